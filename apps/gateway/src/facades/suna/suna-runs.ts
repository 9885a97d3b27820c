import {
  type AccountId,
  type InputBlock,
  type Message,
  type RecordedFact,
  type Run,
  type ThreadId,
  isTerminal,
  isWaiting,
  runStatus,
} from '@rondo/contract';
import type { SunaAnyStart, SunaInitiation, SunaRow, SunaStart } from '@rondo/contract/api';
import { TerminalError } from '@rondo/domain';
import type { Agents, Caller, Messages, RunAddress, Runs, Thread, ThreadAddress, Threads } from '@rondo/persistence';
import { type AccountQuotas, measureContent } from '../../billing/account-quotas';
import { ApiError, refuseField } from '../../problems/api-error';
import type { RunRequest, RunService } from '../../runs/run-service';
import { findNamedAgent } from '../named-agents';
import { ShownSize } from '../shown-size';
import { toContent, toMessageRows, toSunaRow } from './suna.rows';

const pageSize = 100;
const mostMessages = 1_000;

interface SunaRunsDependencies {
  readonly runs: Pick<Runs, 'get' | 'list' | 'current' | 'events'>;
  readonly threads: Pick<Threads, 'get' | 'list' | 'create'>;
  readonly messages: Pick<Messages, 'add' | 'list'>;
  readonly agents: Pick<Agents, 'findId'>;
  readonly service: Pick<RunService, 'create' | 'answer' | 'stop'>;
  readonly quotas: Pick<AccountQuotas, 'within'>;
}

/** What clients of Suna do, in terms of threads and runs, whose ids they see. */
export class SunaRuns {
  constructor(private readonly dependencies: SunaRunsDependencies) {}

  createThread(accountId: AccountId, title: string | undefined): Promise<Thread> {
    const { quotas, threads } = this.dependencies;
    return quotas.within(accountId, { threads: 1 }, (bounds) =>
      threads.create({ accountId, title, metadata: {}, bounds }),
    );
  }

  /** The newest first. */
  async listThreads(accountId: AccountId): Promise<readonly Thread[]> {
    return (await this.dependencies.threads.list({ accountId, limit: pageSize })).data;
  }

  getThread(address: ThreadAddress): Promise<Thread> {
    return this.dependencies.threads.get(address);
  }

  getRun(address: RunAddress): Promise<Run> {
    return this.dependencies.runs.get(address);
  }

  /** A run on a new thread. Rejects with the problems of beginning a run. */
  async initiate(caller: Caller, { prompt: input, files, ...settings }: SunaInitiation): Promise<Run> {
    return this.begin(caller, { input, files, ...(await this.readSettings(caller.accountId, settings)) });
  }

  /** A run that reads what was said on the thread since the last one; or the run that is at work or waits there, or that has just read it. */
  async start(caller: Caller, threadId: ThreadId, settings: SunaStart): Promise<Run> {
    const address = { accountId: caller.accountId, threadId };
    const current = await this.dependencies.runs.current(address);
    if (current && !isTerminal(current.status)) return current;
    const wanted = await this.readSettings(caller.accountId, settings);
    if (current && matches(current, wanted) && (await this.hasJustRead(address, current))) return current;
    return this.begin(caller, { thread_id: threadId, ...wanted });
  }

  /** A run on a new thread or on this one, with what is said; or the run that is at work or waits there, which is told it. */
  async startAny(caller: Caller, { thread_id: threadId, prompt, files, ...settings }: SunaAnyStart): Promise<Run> {
    if (threadId == null) {
      if (prompt === undefined) throw refuseField('prompt', 'a new thread needs one');
      return this.initiate(caller, { prompt: [{ type: 'text', text: prompt }], files, ...settings });
    }
    const address = { accountId: caller.accountId, threadId };
    const current = await this.dependencies.runs.current(address);
    const isActive = current !== undefined && !isTerminal(current.status);
    if (isActive && files) throw refuseField('files', `${current.id} is active: it takes no files`);
    if (prompt !== undefined && !files && (isActive || (await this.findSaid(address, prompt)))) {
      await this.say(caller, threadId, prompt);
      return isActive && isAsking(current) ? current : this.start(caller, threadId, settings);
    }
    const input: InputBlock[] | undefined = prompt === undefined ? undefined : [{ type: 'text', text: prompt }];
    const wanted = { thread_id: threadId, input, files, ...(await this.readSettings(caller.accountId, settings)) };
    return this.begin(caller, wanted);
  }

  /** The answer where the run asks, what a run at work reads on its way, or else a message for the next run. */
  async say(caller: Caller, threadId: ThreadId, text: string): Promise<SunaRow> {
    const address = { accountId: caller.accountId, threadId };
    const content: InputBlock[] = [{ type: 'text', text }];
    const current = await this.dependencies.runs.current(address);
    const answer = current && isAsking(current) ? await this.answer(current, address, content) : undefined;
    const known = answer ?? (await this.findSaid(address, text));
    if (known) return known;
    if (current && !isTerminal(current.status)) return this.tell(caller, current, text);
    const { quotas, messages } = this.dependencies;
    const message = await quotas.within(address.accountId, measureContent(content), (bounds) =>
      messages.add({ ...address, content, bounds }),
    );
    const [row] = toMessageRows(message);
    if (!row) throw new Error('a message of a user has a row');
    return row;
  }

  async stop(address: RunAddress): Promise<void> {
    await this.dependencies.service.stop(address, 'stopped by the user');
  }

  /** Newest first. */
  async listActive(accountId: AccountId): Promise<readonly Run[]> {
    const statuses = runStatus.options.filter((status) => !isTerminal(status) && !isWaiting(status));
    return (await this.dependencies.runs.list({ accountId, statuses, isMessage: false, limit: pageSize })).data;
  }

  async listRuns({ accountId, threadId }: ThreadAddress): Promise<readonly Run[]> {
    await this.dependencies.threads.get({ accountId, threadId });
    return (await this.dependencies.runs.list({ accountId, threadId, isMessage: false, limit: pageSize })).data;
  }

  /** The newest, the oldest of them first: as many as one answer may show. */
  async listMessages({ accountId, threadId }: ThreadAddress): Promise<readonly SunaRow[]> {
    const rows: SunaRow[] = [];
    const size = new ShownSize();
    let after: string | undefined;
    do {
      const page = await this.dependencies.messages.list({
        accountId,
        threadId,
        order: 'desc',
        limit: pageSize,
        after,
      });
      rows.push(...page.data.flatMap((message) => toMessageRows(message).toReversed()));
      size.count(page.data);
      after = page.next_cursor ?? undefined;
    } while (after !== undefined && rows.length < mostMessages && !size.isFull);
    return rows.slice(0, mostMessages).reverse();
  }

  /** The newest message of the thread, if it says this: it was sent a second time, by a client that got no answer. */
  private async findSaid(address: ThreadAddress, text: string): Promise<SunaRow | undefined> {
    const newest = await this.findNewestMessage(address);
    const [block, ...others] = newest?.content ?? [];
    const isSame = block?.type === 'text' && block.text === text && others.length === 0;
    if (newest?.type !== 'user' || !isSame || !isRecent(newest.created_at)) return undefined;
    return toMessageRows(newest)[0];
  }

  /** Nothing was said on the thread since the run, which has ended a moment ago. */
  private async hasJustRead(address: ThreadAddress, { status, finished_at: at }: Run): Promise<boolean> {
    if (status !== 'completed' || at === null || !isRecent(at)) return false;
    return (await this.findNewestMessage(address))?.type !== 'user';
  }

  private async findNewestMessage(address: ThreadAddress): Promise<Message | undefined> {
    return (await this.dependencies.messages.list({ ...address, order: 'desc', limit: 1 })).data[0];
  }

  /** Undefined if it was answered since. */
  private async answer(
    { id: runId, thread_id, last_seq: after }: Run,
    { accountId }: ThreadAddress,
    content: InputBlock[],
  ): Promise<SunaRow | undefined> {
    const address = { accountId, runId };
    try {
      await this.dependencies.service.answer({ ...address, content });
    } catch (error) {
      if (error instanceof TerminalError && error.code === 'run_not_waiting') return undefined;
      throw error;
    }
    const { data } = await this.dependencies.runs.events(address, { after, limit: pageSize });
    const row = findUserRow(data, thread_id);
    if (!row) throw new Error(`the answer to ${runId} is not in its log`);
    return row;
  }

  /** If the run ends without having read it, another one with the same model begins with it. */
  private async tell(caller: Caller, current: Run, text: string): Promise<SunaRow> {
    const { thread_id } = current;
    const { profile, model, llm } = current.settings;
    const content = { type: 'text' as const, text };
    const settings = { profile, model, llm, on_active_run: 'steer' as const };
    const { run, facts } = await this.create(caller, { thread_id, input: [content], ...settings });
    const metadata = { thread_run_id: run.id, queued_as: run.steered?.queued_run_id ?? run.id };
    const unread = { message_id: null, thread_id, type: 'user' as const, is_llm_message: true, metadata };
    const row = { ...unread, content: toContent({ type: 'user', content: [content] }), at: new Date().toISOString() };
    return findUserRow(facts, thread_id) ?? toSunaRow(row);
  }

  private async begin(caller: Caller, given: Partial<RunRequest>): Promise<Run> {
    return (await this.create(caller, given)).run;
  }

  private create(
    { accountId, keyId: createdBy }: Caller,
    given: Partial<RunRequest>,
  ): ReturnType<RunService['create']> {
    const request: RunRequest = { on_active_run: 'reject', metadata: {}, ...given };
    return this.dependencies.service.create(accountId, request, { createdBy });
  }

  private async readSettings(
    accountId: AccountId,
    { agent_id: name, model_name: model, enable_thinking: thinking, reasoning_effort: effort }: SunaStart,
  ): Promise<Partial<RunRequest>> {
    const thinks = thinking === true || thinking === 'true';
    const agent = name == null ? undefined : await findNamedAgent(this.dependencies.agents, accountId, name);
    if (name != null && !agent) throw new ApiError('agent_not_found', `There is no agent ${name}.`);
    const llm = thinks && { enable_thinking: true, reasoning_effort: effort ?? 'low' };
    return { ...(agent && { agent_id: agent }), ...(model != null && { model }), ...(llm && { llm }) };
  }
}

const isAsking = ({ status, waiting }: Run): boolean => isWaiting(status) && waiting?.reason === 'ask';

/** Whether a run is what a start with these settings would begin. */
const matches = (run: Run, { agent_id: agent, model }: Partial<RunRequest>): boolean =>
  (agent ?? run.agent_id) === run.agent_id && (model ?? run.model) === run.model;

/** Clients of Suna repeat a request that broke off by themselves, and do not say so. */
const repeatedWithinMs = 120_000;
const isRecent = (at: string): boolean => Date.now() - Date.parse(at) < repeatedWithinMs;

/** The first message of a user that these facts store. */
function findUserRow(facts: readonly RecordedFact[], thread_id: ThreadId): SunaRow | undefined {
  const said = facts.find((fact) => fact.type === 'message.created' && fact.data.message.type === 'user');
  if (said?.type !== 'message.created') return undefined;
  const { id: message_id, type, is_llm_message, ...message } = said.data.message;
  const parts = { message_id, thread_id, type, is_llm_message, at: said.at, metadata: { thread_run_id: said.run_id } };
  return toSunaRow({ ...parts, content: toContent({ type, ...message }) });
}
