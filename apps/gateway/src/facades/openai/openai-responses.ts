import { createHash } from 'node:crypto';
import {
  type AccountId,
  type EndUser,
  type RecordedFact,
  type Run,
  type RunId,
  type SettingsRequest,
  type ThreadId,
  endUser,
  isTerminal,
  isWaiting,
} from '@rondo/contract';
import type { OpenAiChatRequest, OpenAiResponseRequest } from '@rondo/contract/api';
import type { Agents, Caller, FacadeIds, RunAddress, Runs, Threads } from '@rondo/persistence';
import type { NewRunLog } from '../../live/run-subscriptions';
import { ApiError, InvalidRequest } from '../../problems/api-error';
import type { RunRequest, RunService } from '../../runs/run-service';
import { decideAll } from '../facade-approvals';
import { readLogPages } from '../log-pages';
import { findNamedAgent } from '../named-agents';
import { findSegmentStarts, readConversationId, readResponseId, toItemId, toResponseId } from './openai-ids';
import { ownKeys, toResponseOptions, withApproved } from './openai.objects';
import {
  type ReadRequest,
  type Said,
  asking,
  readChatRequest,
  readResponseRequest,
  toChatSettings,
  toInput,
  toResponseSettings,
} from './openai.requests';
import { toText } from './openai.items';
import { type ResponseOptions, ResponseTranslator } from './openai.translate';

/** A response that exists, with the facts of its run. */
export interface FoundResponse {
  readonly run: Run;
  readonly facts: readonly RecordedFact[];
  readonly options: ResponseOptions;
  /** Nothing was asked after it on its run. */
  readonly isLatest: boolean;
  /** The seq of its last fact. */
  readonly end: number;
}

/** A response that was begun. */
export interface BegunResponse {
  readonly run: Run;
  readonly options: ResponseOptions;
  /** Of a run that the request has begun. */
  readonly begun?: NewRunLog;
}

/** A request as it was sent. */
interface Attempt {
  readonly request: unknown;
  /** The client has sent it before. */
  readonly isRepeated: boolean;
}

interface Place {
  readonly threadId: ThreadId | undefined;
  readonly newest: Run | undefined;
}

/** A run that a request begins, if it does not go on with one. */
interface Wanted {
  readonly read: ReadRequest;
  readonly model: string | null | undefined;
  readonly settings: SettingsRequest;
  readonly metadata: Readonly<Record<string, string>>;
  /** Of a new thread. */
  readonly user: EndUser | undefined;
}

interface OpenAiResponsesDependencies {
  readonly ids: Pick<FacadeIds, 'nameRun' | 'findRun'>;
  readonly runs: Pick<Runs, 'get' | 'list' | 'events' | 'awaitedCalls' | 'approval'>;
  readonly threads: Pick<Threads, 'get' | 'delete'>;
  readonly agents: Pick<Agents, 'findId'>;
  readonly service: Pick<RunService, 'create' | 'answer' | 'answerCalls' | 'decideTogether'>;
}

const facade = 'openai';
const pageSize = 200;

/** What clients of OpenAI's API do with responses and chats, in terms of threads and runs. It keeps nothing. */
export class OpenAiResponses {
  constructor(private readonly dependencies: OpenAiResponsesDependencies) {}

  /** Carries out what a request says. Rejects with the problems of what it does. */
  async respond(caller: Caller, request: OpenAiResponseRequest): Promise<BegunResponse> {
    const read = readResponseRequest(request);
    const { place, previous } = await this.findPlace(caller.accountId, request, read);
    const declaresAsk = request.tools?.some(({ name }) => name === asking) ?? false;
    const metadata = {
      ...request.metadata,
      ...(previous !== undefined && { [ownKeys.previous]: previous }),
      ...(request.background && { [ownKeys.background]: 'true' }),
      ...(declaresAsk && { [ownKeys.declaresAsk]: 'true' }),
    };
    const settings = toResponseSettings(request, read.instructions);
    const user = toUser(request);
    return this.carryOut(caller, place, { read, model: request.model, settings, metadata, user });
  }

  /** The same for a chat. Its thread is found by what was said before. */
  async chat(caller: Caller, request: OpenAiChatRequest): Promise<BegunResponse> {
    const { accountId } = caller;
    const read = readChatRequest(request);
    const known = await this.findChat(accountId, request.model, read);
    const newest = read.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n\n');
    const chat = toChatHash(request.model, [...read.history, { role: 'user', text: newest }]);
    const settings = toChatSettings(request, read.instructions);
    const place = { threadId: known?.thread_id, newest: known };
    const wanted = {
      read: known ? { ...read, history: [] } : read,
      model: request.model,
      settings,
      metadata: request.metadata ?? {},
      user: toUser(request),
    };
    const begun = await this.carryOut(caller, place, wanted);
    await this.name(accountId, chat, begun);
    return begun;
  }

  /**
   * What an earlier attempt of the same request has begun, or what `begin` begins. Clients of OpenAI's API repeat a request whose
   * answer was lost without a key, and say only that they do.
   */
  async once(accountId: AccountId, attempt: Attempt, begin: () => Promise<BegunResponse>): Promise<BegunResponse> {
    const name = `request ${createHash('sha256').update(JSON.stringify(attempt.request)).digest('hex')}`;
    const known = attempt.isRepeated ? await this.dependencies.ids.findRun({ accountId, facade, name }) : undefined;
    const run = known && (await this.dependencies.runs.get({ accountId, runId: known.runId }));
    if (known && run && Date.now() - Date.parse(run.finished_at ?? new Date().toISOString()) < repeatedWithinMs)
      return { run, options: toResponseOptions(run, known, undefined) };
    const begun = await begin();
    await this.name(accountId, name, begun);
    return begun;
  }

  private name(accountId: AccountId, name: string, { run, options: { after } }: BegunResponse): Promise<void> {
    const { id: runId, thread_id: threadId } = run;
    return this.dependencies.ids.nameRun({ accountId, facade, name, threadId, runId, after });
  }

  /** Rejects with `run_not_found` for what is no response of the account. */
  async find(accountId: AccountId, responseId: string): Promise<FoundResponse> {
    const segment = readResponseId(responseId);
    const run = await this.dependencies.runs.get({ accountId, runId: segment.runId });
    const facts = await this.readLog({ accountId, runId: run.id });
    const starts = findSegmentStarts(facts);
    if (!starts.includes(segment.after)) throw new ApiError('run_not_found', `There is no response ${responseId}.`);
    const index = starts.indexOf(segment.after);
    const [earlier, next] = [starts[index - 1], starts[index + 1]];
    const previous = earlier === undefined ? undefined : { runId: run.id, after: earlier };
    const options = withApproved(toResponseOptions(run, segment, previous), facts);
    return { run, facts, options, isLatest: next === undefined, end: next ?? run.last_seq };
  }

  /** The newest run of a thread. */
  async findNewest(accountId: AccountId, threadId: ThreadId): Promise<Run | undefined> {
    return (await this.dependencies.runs.list({ accountId, threadId, limit: 1 })).data[0];
  }

  /** Rejects with `log_trimmed` where facts were deleted. */
  async readLog(address: RunAddress): Promise<RecordedFact[]> {
    const facts: RecordedFact[] = [];
    for await (const page of readLogPages(this.dependencies.runs, address)) {
      if (page.gap)
        throw new ApiError('log_trimmed', 'Events of this run have been deleted, so it cannot be shown here.');
      facts.push(...page.data);
    }
    return facts;
  }

  /** Deletes the thread of a response that is alone on it. */
  async delete(accountId: AccountId, responseId: string): Promise<void> {
    const { run, isLatest, options } = await this.find(accountId, responseId);
    const { data } = await this.dependencies.runs.list({ accountId, threadId: run.thread_id, limit: 2 });
    if (data.length > 1 || !isLatest || options.after !== 0)
      throw new InvalidRequest([
        { field: 'response_id', message: 'its thread has other responses: delete the conversation' },
      ]);
    await this.dependencies.threads.delete({ accountId, threadId: run.thread_id });
  }

  /** Where a request goes on, and the response before it. */
  private async findPlace(
    accountId: AccountId,
    { previous_response_id: previous, conversation }: OpenAiResponseRequest,
    { knownRun, outputs }: ReadRequest,
  ): Promise<{ place: Place; previous?: string }> {
    if (previous && conversation)
      throw new InvalidRequest([
        { field: 'conversation', message: 'give previous_response_id or conversation, not both' },
      ]);
    if (previous) {
      const { run, isLatest } = await this.find(accountId, previous);
      if (!isLatest) throw notLatest(previous);
      return { place: await this.requireNewest(accountId, run), previous };
    }
    if (conversation) {
      const threadId = readConversationId(typeof conversation === 'string' ? conversation : conversation.id);
      await this.dependencies.threads.get({ accountId, threadId });
      return { place: { threadId, newest: await this.findNewest(accountId, threadId) } };
    }
    const runId = knownRun ?? (await this.findAwaiting(accountId, outputs));
    if (runId === undefined) return { place: { threadId: undefined, newest: undefined } };
    return { place: await this.requireNewest(accountId, await this.dependencies.runs.get({ accountId, runId })) };
  }

  private async requireNewest(accountId: AccountId, run: Run): Promise<Place> {
    const newest = await this.findNewest(accountId, run.thread_id);
    if (newest?.id !== run.id) throw notLatest(toResponseId({ runId: run.id, after: 0 }));
    return { threadId: run.thread_id, newest };
  }

  /** The run that waits for these results. Rejects with `tool_call_not_found`. */
  private async findAwaiting(accountId: AccountId, outputs: ReadRequest['outputs']): Promise<RunId | undefined> {
    if (outputs.size === 0) return undefined;
    let after: string | undefined;
    do {
      const page = await this.dependencies.runs.awaitedCalls({ accountId, limit: pageSize, after });
      const found = page.data.find(({ id }) => outputs.has(id));
      if (found) return found.run_id;
      after = page.next_cursor ?? undefined;
    } while (after !== undefined);
    throw new ApiError('tool_call_not_found', `No call waits for an output of ${[...outputs.keys()].join(', ')}.`);
  }

  private carryOut(caller: Caller, place: Place, wanted: Wanted): Promise<BegunResponse> {
    const { newest } = place;
    const { outputs, approvals } = wanted.read;
    const question = newest?.waiting?.reason === 'ask' ? newest.waiting.question : undefined;
    if (newest?.waiting?.reason === 'caller_tools') return this.answerCalls(caller, newest, wanted.read);
    if (newest?.waiting?.reason === 'approval' && approvals.size > 0) return this.decide(caller, newest, wanted.read);
    if (approvals.size > 0)
      throw new ApiError('approval_not_open', `Nothing waits for an answer to ${[...approvals.keys()].join(', ')}.`);
    if (newest && question) return this.answer(caller, newest, wanted.read);
    if (outputs.size > 0)
      throw new ApiError('tool_call_not_awaited', `No call waits for an output of ${[...outputs.keys()].join(', ')}.`);
    return this.begin(caller, place, wanted);
  }

  private async begin({ accountId, keyId }: Caller, { threadId }: Place, wanted: Wanted): Promise<BegunResponse> {
    const { model, settings, metadata } = wanted;
    const agent = model ? await findNamedAgent(this.dependencies.agents, accountId, model) : undefined;
    if (agent && settings.agent)
      throw new InvalidRequest([{ field: 'instructions', message: 'a stored agent has its own' }]);
    const request: RunRequest = {
      ...settings,
      thread_id: threadId,
      input: toInput(wanted.read),
      ...(agent ? { agent_id: agent } : { model: model ?? undefined }),
      on_active_run: 'reject',
      user: threadId === undefined ? wanted.user : undefined,
      metadata: { ...metadata, ...(model && { [ownKeys.model]: model }) },
    };
    const { run, facts } = await this.dependencies.service.create(accountId, request, { createdBy: keyId });
    return { run, options: toResponseOptions(run, { runId: run.id, after: 0 }, undefined), begun: { run, facts } };
  }

  /** The answer to a question: in words, or as the output of the function that the client declared. */
  private async answer({ accountId }: Caller, run: Run, read: ReadRequest): Promise<BegunResponse> {
    const said = read.outputs.get(run.waiting?.question?.tool_call_id ?? '')?.output;
    const content = said === undefined ? toInput({ ...read, history: [] }) : [{ type: 'text' as const, text: said }];
    const next = await this.toNextSegment(accountId, run);
    await this.dependencies.service.answer({ accountId, runId: run.id, content });
    return next;
  }

  private async answerCalls({ accountId, keyId }: Caller, run: Run, read: ReadRequest): Promise<BegunResponse> {
    const calls = run.waiting?.tool_calls ?? [];
    const answers = calls.map(({ tool_call_id: callId }) => {
      const result = read.outputs.get(callId);
      if (result) return { callId, result };
      throw new InvalidRequest([{ field: read.field, message: `No tool output found for function call ${callId}.` }]);
    });
    if (read.content.length > 0)
      throw new InvalidRequest([{ field: read.field, message: 'give the outputs of calls without further messages' }]);
    const next = await this.toNextSegment(accountId, run);
    await this.dependencies.service.answerCalls({ accountId, runId: run.id, answers, answeredBy: keyId });
    return next;
  }

  /** All that is asked, or nothing. */
  private async decide(caller: Caller, run: Run, { approvals, content }: ReadRequest): Promise<BegunResponse> {
    const decisions = (run.waiting?.approvals ?? []).map(({ approval_id: approvalId, tool_call_id: callId }) => {
      const id = toItemId('mcpr', run.id, callId);
      const given = approvals.get(id);
      if (!given) throw new InvalidRequest([{ field: 'input', message: `No mcp_approval_response for ${id}.` }]);
      const decision = given.approve ? ('approve' as const) : ('deny' as const);
      return { approvalId, decision, reason: given.reason ?? undefined };
    });
    if (content.length > 0)
      throw new InvalidRequest([{ field: 'input', message: 'give the approvals of calls without further messages' }]);
    const next = await this.toNextSegment(caller.accountId, run);
    await decideAll(this.dependencies, caller, decisions);
    return next;
  }

  /** The response that begins with the answer to what the run waits for. */
  private async toNextSegment(accountId: AccountId, run: Run): Promise<BegunResponse> {
    const facts = await this.readLog({ accountId, runId: run.id });
    const after = facts.findLast(({ type }) => type === 'run.waiting')?.seq ?? run.last_seq;
    const previous = { runId: run.id, after: findSegmentStarts(facts).at(-1) ?? 0 };
    return { run, options: withApproved(toResponseOptions(run, { runId: run.id, after }, previous), facts) };
  }

  /** The run that said the last words of a chat. Undefined: it is not known, or its thread has gone on. */
  private async findChat(
    accountId: AccountId,
    model: OpenAiChatRequest['model'],
    read: ReadRequest,
  ): Promise<Run | undefined> {
    const awaiting = await this.findAwaiting(accountId, read.outputs);
    if (awaiting) return this.dependencies.runs.get({ accountId, runId: awaiting });
    const lastWords = read.history.at(-1)?.text;
    if (lastWords === undefined) return undefined;
    const ends = read.history.flatMap(({ role }, index) => (role === 'user' ? [index + 1] : [])).toReversed();
    for (const end of ends.slice(0, mostAnswers)) {
      const name = toChatHash(model, read.history.slice(0, end));
      const named = await this.dependencies.ids.findRun({ accountId, facade, name });
      const run = named && (await this.dependencies.runs.get({ accountId, runId: named.runId }));
      if (run && (await this.isLastWord(accountId, run, lastWords))) return run;
    }
    return undefined;
  }

  private async isLastWord(accountId: AccountId, run: Run, words: string): Promise<boolean> {
    if (!isTerminal(run.status) && !isWaiting(run.status)) return false;
    if ((await this.findNewest(accountId, run.thread_id))?.id !== run.id) return false;
    const facts = await this.readLog({ accountId, runId: run.id });
    const after = findSegmentStarts(facts).at(-1) ?? 0;
    const translator = new ResponseTranslator(toResponseOptions(run, { runId: run.id, after }, undefined));
    for (const fact of facts) if (fact.seq > after) translator.translate(fact);
    return toText(translator.response).trim() === words.trim();
  }
}

/** When its run is over so long, a request is a new one. */
const repeatedWithinMs = 120_000;
/** Answers to questions of one run that a chat may have had. */
const mostAnswers = 5;

const notLatest = (id: string): ApiError =>
  new ApiError('message_not_newest', `${id} is not the newest response of its thread.`);

const toChatHash = (model: string | null | undefined, said: readonly Said[]): string =>
  createHash('sha256')
    .update(JSON.stringify([model ?? null, said.map(({ role, text }) => [role, text.trim()])]))
    .digest('hex');

/** The person that the client names, where Rondo can name them so. */
const toUser = ({ safety_identifier: identifier, user }: Pick<OpenAiChatRequest, 'safety_identifier' | 'user'>) =>
  endUser.safeParse(identifier ?? user).data;
