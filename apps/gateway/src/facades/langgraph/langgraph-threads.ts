import {
  type AccountId,
  type EndUser,
  type Message,
  type Run,
  type RunId,
  isTerminal,
  isWaiting,
  readUser,
} from '@rondo/contract';
import {
  type LangGraphHistoryRequest,
  type LangGraphStateChange,
  type LangGraphThreadSearch,
  type LangGraphThreadStatus,
  metadata as storableMetadata,
} from '@rondo/contract/api';
import type { FacadeIds, Messages, Runs, Thread, ThreadAddress, Threads } from '@rondo/persistence';
import { z } from 'zod';
import { type AccountQuotas, measureContent } from '../../billing/account-quotas';
import { parseInput } from '../../http/parse-input';
import { ApiError, refuseField } from '../../problems/api-error';
import { type ThreadRun, listThreadRuns } from '../log-pages';
import { ShownSize } from '../shown-size';
import { type LangGraphAssistants, defaultAssistant } from './langgraph-assistants';
import {
  type GraphInterrupt,
  type GraphMessage,
  type MessageNames,
  MessageState,
  toInterrupts,
} from './langgraph.messages';
import { ownKeys, readMessages, readNames, toInput } from './langgraph.requests';
import { type GraphError, findLimitError } from './langgraph.translate';

export const facade = 'langgraph';
const pageSize = 200;

/** A thread as its client names it. */
export interface NamedThread {
  readonly accountId: AccountId;
  readonly threadName: string;
}

/** A message of a thread, and the time of what it was made from. */
interface StateEntry {
  readonly message: GraphMessage;
  readonly at: string;
  /** Null for a message of no run. */
  readonly runId: string | null;
  /** In characters. */
  readonly length: number;
}

/** All that there is of a thread, as of about one moment. */
interface ReadThread {
  readonly thread: Thread;
  readonly name: string;
  /** Newest first. */
  readonly runs: readonly ThreadRun[];
  readonly entries: readonly StateEntry[];
  readonly interrupts: readonly GraphInterrupt[];
  /** False: the answer has no space for it, and what was read of its messages is not all. */
  readonly fits: boolean;
}

interface LangGraphThreadsDependencies {
  readonly ids: Pick<FacadeIds, 'findThread' | 'createThread' | 'nameMessage' | 'listMessageNames' | 'listThreadNames'>;
  readonly threads: Pick<Threads, 'create' | 'get' | 'list' | 'delete' | 'changeMetadata'>;
  readonly messages: Pick<Messages, 'list' | 'addAll'>;
  readonly runs: Pick<Runs, 'list' | 'active'>;
  readonly quotas: Pick<AccountQuotas, 'within'>;
  readonly assistants: Pick<LangGraphAssistants, 'findAgent'>;
}

/** Threads and their states, as clients of LangGraph see them. It keeps nothing but the ids that they choose. */
export class LangGraphThreads {
  constructor(private readonly dependencies: LangGraphThreadsDependencies) {}

  /** Rejects with `thread_not_found` for a name that was never used. */
  async find({ accountId, threadName }: NamedThread): Promise<ThreadAddress> {
    const threadId = await this.dependencies.ids.findThread({ accountId, facade, chatId: threadName });
    if (!threadId) throw new ApiError('thread_not_found', `There is no thread ${threadName}.`);
    return { accountId, threadId };
  }

  /** A thread that is not there yet is created as that of the user. */
  async findOrCreate({ accountId, threadName }: NamedThread, user: EndUser | undefined): Promise<ThreadAddress> {
    const { ids, quotas } = this.dependencies;
    const chat = { accountId, facade, chatId: threadName };
    const known = await ids.findThread(chat);
    if (known) return { accountId, threadId: known };
    const threadId = await quotas.within(accountId, { threads: 1 }, (bounds) => ids.createThread(chat, bounds, user));
    return { accountId, threadId };
  }

  /** Rejects with `thread_exists` where its name is in use and that is an error to the client. */
  async create(
    accountId: AccountId,
    request: {
      thread_id?: string | null | undefined;
      if_exists?: string | null | undefined;
      metadata: Record<string, string>;
    },
  ) {
    const { thread_id: threadName, if_exists: ifExists, metadata } = request;
    const user = readUser({ metadata });
    if (typeof threadName !== 'string') {
      const { quotas, threads } = this.dependencies;
      const { id } = await quotas.within(accountId, { threads: 1 }, (bounds) =>
        threads.create({ accountId, metadata, user, bounds }),
      );
      return this.get({ accountId, threadName: id });
    }
    const known = await this.dependencies.ids.findThread({ accountId, facade, chatId: threadName });
    if (known && ifExists !== 'do_nothing')
      throw new ApiError('thread_exists', `There is a thread ${threadName} already: give if_exists "do_nothing".`);
    const thread = await this.findOrCreate({ accountId, threadName }, user);
    if (!known) await this.dependencies.threads.changeMetadata(thread, () => metadata);
    return this.get({ accountId, threadName });
  }

  async get(named: NamedThread) {
    const thread = await this.dependencies.threads.get(await this.find(named));
    return toThread(await this.readContents(thread, named, new ShownSize()));
  }

  async update(named: NamedThread, metadata: Readonly<Record<string, string>>) {
    const thread = await this.find(named);
    await this.dependencies.threads.changeMetadata(
      thread,
      (stored) =>
        parseInput(z.object({ metadata: storableMetadata }), { metadata: { ...stored, ...metadata } }).metadata,
    );
    return this.get(named);
  }

  async delete(named: NamedThread): Promise<void> {
    await this.dependencies.threads.delete(await this.find(named));
  }

  async search(accountId: AccountId, query: LangGraphThreadSearch) {
    const found = await this.listFound(accountId, query);
    const names = await this.dependencies.ids.listThreadNames(
      { accountId, facade },
      found.map(({ id }) => id),
    );
    const shown: ReturnType<typeof toThread>[] = [];
    const size = new ShownSize();
    for (const thread of found) {
      const read = await this.readContents(thread, { accountId, threadName: names.get(thread.id) ?? thread.id }, size);
      shown.push(toThread(read));
    }
    return shown;
  }

  async count(accountId: AccountId, query: Pick<LangGraphThreadSearch, 'metadata' | 'status'>): Promise<number> {
    let count = 0;
    for await (const _ of this.findThreads(accountId, query)) count += 1;
    return count;
  }

  /** Undefined: the newest state. Rejects with `invalid_request` for a checkpoint that the thread does not have. */
  async getState(named: NamedThread, checkpointId?: string) {
    const read = await this.read(named);
    if (checkpointId === undefined) return toState(read, read.entries.length);
    return toState(read, findCheckpoint(read, checkpointId, 'checkpoint_id'));
  }

  async listStates(named: NamedThread, { limit, before }: LangGraphHistoryRequest) {
    const read = await this.read(named);
    const start = before ? findCheckpoint(read, readCheckpoint(before), 'before') - 1 : read.entries.length;
    const lengths = Array.from({ length: Math.min(limit, Math.max(start, 0)) }, (_, index) => start - index);
    requireShort(read, lengths);
    return lengths.map((length) => toState(read, length));
  }

  /**
   * Rejects with `invalid_request` for a checkpoint from which the thread does not go on. Only runs that were stopped may have come
   * after it: a client that stops one does not ask for the state that this has left.
   */
  async requireCurrent(named: NamedThread, checkpointId: string): Promise<void> {
    const read = await this.read(named);
    const stopped = new Set(read.runs.flatMap(({ id, status }) => (status === 'stopped' ? [id as string] : [])));
    const later = read.entries.slice(findCheckpoint(read, checkpointId, 'checkpoint_id'));
    if (later.every(({ runId }) => runId !== null && stopped.has(runId))) return;
    const message = 'the thread has gone on since: a run goes on from the newest state';
    throw refuseField('checkpoint_id', message);
  }

  /** Adds messages of the user, which the next run reads. Rejects with `thread_busy` while one is at work. */
  async addMessages(named: NamedThread, { values }: LangGraphStateChange) {
    const thread = await this.find(named);
    const { messages, results, replies, instructions } = readMessages(values, 'values');
    if (results.size + replies.length > 0 || messages.length === 0 || instructions !== undefined)
      throw refuseField('values.messages', 'only messages of the user can be added');
    const active = await this.dependencies.runs.active(thread);
    if (active) throw new ApiError('thread_busy', `${active.id} is active on this thread.`);
    const contents = messages.map((message) => toInput([message], 'values.messages'));
    const added = await this.dependencies.quotas.within(thread.accountId, measureContent(contents.flat()), (bounds) =>
      this.dependencies.messages.addAll({ ...thread, contents, bounds }),
    );
    let newest = '';
    for (const [index, { id }] of added.entries()) {
      const name = messages[index]?.name ?? null;
      if (name !== null) await this.name(thread, id, name);
      newest = name ?? id;
    }
    const checkpoint = describeCheckpoint(named.threadName, newest);
    return { checkpoint, configurable: checkpoint };
  }

  /** What the client calls a message, or the answer to a call. */
  async name({ accountId, threadId }: ThreadAddress, messageId: string, name: string): Promise<void> {
    await this.dependencies.ids.nameMessage({ accountId, facade, threadId, messageId, name });
  }

  /** The messages of the thread that are before a run, or before all runs. */
  async readStateBefore(thread: ThreadAddress, runId?: RunId): Promise<MessageState> {
    const state = new MessageState(await this.readNames(thread, await this.listRuns(thread)));
    for await (const message of this.listMessages(thread)) {
      if (message.run_id !== null && (runId === undefined || message.run_id === runId)) break;
      state.add(message);
    }
    return state;
  }

  /** What the client calls a thread that it may have begun elsewhere. */
  async findName({ accountId, threadId }: ThreadAddress): Promise<string> {
    return (await this.dependencies.ids.listThreadNames({ accountId, facade }, [threadId])).get(threadId) ?? threadId;
  }

  listRuns(thread: ThreadAddress): Promise<readonly ThreadRun[]> {
    return listThreadRuns(this.dependencies.runs, thread);
  }

  private async read(named: NamedThread): Promise<ReadThread> {
    const thread = await this.dependencies.threads.get(await this.find(named));
    const size = new ShownSize(`Read it with GET /v1/threads/${thread.id}/messages.`);
    const read = await this.readContents(thread, named, size);
    size.requireSpace();
    return read;
  }

  private async readContents(
    thread: Thread,
    { accountId, threadName: name }: NamedThread,
    size: ShownSize,
  ): Promise<ReadThread> {
    const address = { accountId, threadId: thread.id };
    const runs = await this.listRuns(address);
    const state = new MessageState(await this.readNames(address, runs));
    const entries: StateEntry[] = [];
    for await (const stored of size.isFull ? [] : this.listMessages(address)) {
      if (size.isFull) break;
      const origin = { at: stored.created_at, runId: stored.run_id };
      for (const message of state.add(stored)) entries.push({ message, ...origin, length: size.count(message) });
    }
    const waiting = runs.find(({ status }) => isWaiting(status));
    const fits = !size.isFull;
    const interrupts = fits && waiting?.waiting ? toInterrupts(waiting.waiting, waiting.id, state) : [];
    return { thread, name, runs, entries, interrupts, fits };
  }

  private async *listMessages(thread: ThreadAddress): AsyncGenerator<Message, void> {
    for (let after: string | undefined; ;) {
      const page = await this.dependencies.messages.list({ ...thread, llmOnly: true, limit: pageSize, after });
      yield* page.data;
      if (page.next_cursor === null) return;
      after = page.next_cursor;
    }
  }

  private async readNames(thread: ThreadAddress, runs: readonly ThreadRun[]): Promise<MessageNames> {
    const inputs = new Map(runs.map(({ id, metadata }) => [id as string, readNames(metadata)]));
    const others = await this.dependencies.ids.listMessageNames({ ...thread, facade });
    return { inputs: (runId) => inputs.get(runId), others };
  }

  private async listFound(accountId: AccountId, query: LangGraphThreadSearch): Promise<Thread[]> {
    const found: Thread[] = [];
    let toSkip = query.offset;
    for await (const thread of this.findThreads(accountId, query)) {
      if (toSkip > 0) toSkip -= 1;
      else if (found.push(thread) >= query.limit) break;
    }
    return found;
  }

  /** Newest first, a page in memory at a time: an account can have a hundred thousand of them. */
  private async *findThreads(
    accountId: AccountId,
    query: Pick<LangGraphThreadSearch, 'metadata' | 'status'> & { readonly ids?: readonly string[] | null | undefined },
  ): AsyncGenerator<Thread, void> {
    const isWanted = await this.toFilter(accountId, query);
    for (let after: string | undefined; ;) {
      const page = await this.dependencies.threads.list({ accountId, limit: pageSize, after });
      for (const thread of page.data) if (await isWanted(thread)) yield thread;
      if (page.next_cursor === null) return;
      after = page.next_cursor;
    }
  }

  private async toFilter(
    accountId: AccountId,
    {
      ids,
      metadata,
      status,
    }: Pick<LangGraphThreadSearch, 'metadata' | 'status'> & { ids?: readonly string[] | null | undefined },
  ): Promise<(thread: Thread) => Promise<boolean>> {
    const named =
      ids && (await Promise.all(ids.map((id) => this.dependencies.ids.findThread({ accountId, facade, chatId: id }))));
    const { graph_id: graph, assistant_id: assistant, ...rest } = metadata ?? {};
    const agents = await Promise.all([graph, assistant].map((name) => this.toAgentName(accountId, name)));
    return async (thread) => {
      if (named && !named.includes(thread.id)) return false;
      const stored = thread.metadata;
      const isOfAgent = (key: string, given: unknown, name: string | undefined) =>
        given === undefined ||
        given === null ||
        stored[key] === given ||
        (name !== undefined && readAgentName(thread) === name);
      if (!isOfAgent('graph_id', graph, agents[0]) || !isOfAgent('assistant_id', assistant, agents[1])) return false;
      if (Object.entries(rest).some(([key, value]) => stored[key] !== value)) return false;
      return !status || (await this.readStatus(accountId, thread)) === status;
    };
  }

  private async toAgentName(accountId: AccountId, name: unknown): Promise<string | undefined> {
    if (typeof name !== 'string') return undefined;
    return (
      (await this.dependencies.assistants.findAgent(accountId, name).catch(() => undefined))?.definition.name ?? name
    );
  }

  private async readStatus(
    accountId: AccountId,
    { id: threadId, newest_run: newest }: Thread,
  ): Promise<LangGraphThreadStatus> {
    if (!newest || newest.status !== 'queued') return toStatus(newest ? [newest] : []);
    const statuses = ['waiting_input', 'waiting_budget', 'waiting_tool'] as const;
    const { data } = await this.dependencies.runs.list({ accountId, threadId, statuses, limit: 1 });
    return data.length > 0 ? 'interrupted' : 'busy';
  }
}

/** The assistant of the newest run. Undefined for a thread without one. */
const readAgentName = ({ newest_run: newest }: Thread): string | undefined =>
  newest ? (newest.agent_name ?? defaultAssistant) : undefined;

/** Of runs of a thread, the newest first. */
function toStatus(runs: readonly Pick<Run, 'status' | 'finish_reason'>[]): LangGraphThreadStatus {
  if (runs.some(({ status }) => isWaiting(status))) return 'interrupted';
  if (runs.some(({ status }) => !isTerminal(status))) return 'busy';
  const [newest] = runs;
  return newest && (newest.status === 'failed' || findLimitError(newest.finish_reason)) ? 'error' : 'idle';
}

/** Why the thread has the status `error`. */
function findError([newest]: readonly ThreadRun[]): GraphError | undefined {
  if (!newest) return undefined;
  if (newest.status === 'failed') return { error: newest.error?.code ?? 'error', message: newest.error?.message ?? '' };
  return findLimitError(newest.finish_reason);
}

/** The assistant that a run began with. */
export const toAssistantId = ({ agent_id: agent, metadata }: Pick<Run, 'agent_id' | 'metadata'>): string =>
  agent ?? metadata[ownKeys.assistant] ?? defaultAssistant;

function toThread(read: ReadThread) {
  const { thread, name, runs, entries, interrupts, fits } = read;
  const [newest] = runs;
  const updated = newest?.finished_at ?? newest?.created_at ?? thread.created_at;
  const agent = newest && { graph_id: readAgentName(thread), assistant_id: toAssistantId(newest) };
  return {
    thread_id: name,
    created_at: thread.created_at,
    updated_at: updated,
    state_updated_at: updated,
    metadata: { ...agent, ...thread.metadata },
    status: toStatus(runs),
    config: {},
    values: fits ? { messages: entries.map(({ message }) => message) } : null,
    interrupts: newest && interrupts.length > 0 ? { [newest.id]: interrupts } : {},
    error: findError(runs) ?? null,
  };
}

/** Each state has all messages up to its own. */
function requireShort({ entries }: ReadThread, lengths: readonly number[]): void {
  const size = new ShownSize('Ask for fewer states.');
  for (const length of lengths) for (const entry of entries.slice(0, length)) size.addCharacters(entry.length);
}

/** A state is named by its last message. */
const toCheckpoint = ({ name, entries }: ReadThread, length: number) =>
  describeCheckpoint(name, entries[length - 1]?.message.id ?? `${name}.0`);

const describeCheckpoint = (threadName: string, id: string) => ({
  thread_id: threadName,
  checkpoint_ns: '',
  checkpoint_id: id,
  checkpoint_map: null,
});

/** The state when the thread had so many messages. */
function toState(read: ReadThread, length: number) {
  const { thread, entries, runs, interrupts } = read;
  const isNewest = length === entries.length;
  const status = isNewest ? toStatus(runs) : 'idle';
  const error = isNewest ? findError(runs) : undefined;
  const isOpen = status === 'busy' || status === 'interrupted';
  const task = { id: runs[0]?.id ?? thread.id, name: 'agent', checkpoint: null, state: null, result: null };
  return {
    values: { messages: entries.slice(0, length).map(({ message }) => message) },
    next: isOpen ? ['agent'] : [],
    tasks:
      isOpen || error
        ? [{ ...task, error: error ? JSON.stringify(error) : null, interrupts: isOpen ? interrupts : [] }]
        : [],
    checkpoint: toCheckpoint(read, length),
    parent_checkpoint: length > 0 ? toCheckpoint(read, length - 1) : null,
    metadata: {
      source: entries[length - 1]?.message.type === 'human' ? 'input' : 'loop',
      step: length - 1,
      parents: {},
    },
    created_at: entries[length - 1]?.at ?? thread.created_at,
    interrupts: isNewest ? interrupts : [],
  };
}

const withId = z.object({ checkpoint_id: z.string() });
const withConfig = z.object({ configurable: withId });

function readCheckpoint(given: unknown): string {
  return typeof given === 'string'
    ? given
    : (withId.safeParse(given).data ?? withConfig.parse(given).configurable).checkpoint_id;
}

/** How many messages the state has. */
function findCheckpoint({ entries, name }: ReadThread, checkpointId: string, field: string): number {
  if (checkpointId === `${name}.0`) return 0;
  const index = entries.findIndex(({ message }) => message.id === checkpointId);
  if (index < 0) throw refuseField(field, `the thread has no checkpoint ${checkpointId}`);
  return index + 1;
}
