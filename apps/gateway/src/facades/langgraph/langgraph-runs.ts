import { type AccountId, type Run, type Waiting, readUser, runId as runIdSchema } from '@rondo/contract';
import type { LangGraphRunRequest } from '@rondo/contract/api';
import type { Caller, PendingKey, RunAddress, Runs, ThreadAddress } from '@rondo/persistence';
import type { IdempotentMessages } from '../../idempotency/idempotent-requests';
import type { AuditedRuns } from '../../audit/audited-runs';
import type { NewRunLog } from '../../live/run-subscriptions';
import { ApiError, refuseField } from '../../problems/api-error';
import type { RunRequest, RunService } from '../../runs/run-service';
import { decideAll } from '../facade-approvals';
import { withFieldNames } from '../facade-input';
import { type ThreadRun, readLogPages } from '../log-pages';
import type { Position } from '../positions';
import type { LangGraphAssistants } from './langgraph-assistants';
import { type LangGraphThreads, type NamedThread, toAssistantId } from './langgraph-threads';
import { MessageState, noNames, toInterrupts } from './langgraph.messages';
import {
  type ReadInput,
  fieldNames,
  findAnswer,
  ownKeys,
  readDecisions,
  readMessages,
  readNames,
  readResults,
  toShownMetadata,
  toInput,
  toKey,
  toSettings,
  toWords,
  writeNames,
} from './langgraph.requests';
import {
  LangGraphTranslator,
  type Segment,
  beginning,
  findLimitError,
  readSegmentName,
  toSegmentName,
} from './langgraph.translate';

/** A segment that was begun, or found. */
export interface GraphRun {
  readonly run: Run;
  readonly segment: Segment;
  readonly threadName: string;
  /** Of a run that the request has begun. */
  readonly begun?: NewRunLog & { readonly isOnNewThread: boolean };
}

type BegunSegment = Pick<GraphRun, 'run' | 'segment' | 'begun'>;

interface Place {
  readonly caller: Caller;
  /** Undefined for a run on a new thread. */
  readonly thread: ThreadAddress | undefined;
  readonly request: LangGraphRunRequest;
  readonly read: ReadInput;
}

type Named = NamedThread & { readonly runName: string };

interface LangGraphRunsDependencies {
  readonly runs: Pick<Runs, 'get' | 'list' | 'events' | 'approval'>;
  readonly service: Pick<RunService, 'create' | 'answer' | 'answerCalls' | 'stop'>;
  readonly acts: Pick<AuditedRuns, 'decideTogether'>;
  readonly idempotent: Pick<IdempotentMessages, 'once'>;
  readonly threads: LangGraphThreads;
  readonly assistants: Pick<LangGraphAssistants, 'choose'>;
}

/** A POST that is repeated while its run is not over, or for so long after that, is the same one. */
const repeatedWithinMs = 120_000;

const strategies = { reject: 'reject', enqueue: 'queue', interrupt: 'replace' } as const;

/** Runs, as clients of LangGraph see them: each part of a run up to a wait is a run to them. */
export class LangGraphRuns {
  constructor(private readonly dependencies: LangGraphRunsDependencies) {}

  /** Carries out what a request says. Rejects with the problems of what it does. */
  async begin(caller: Caller, threadName: string | undefined, request: LangGraphRunRequest): Promise<GraphRun> {
    const { accountId } = caller;
    const { threads } = this.dependencies;
    const read = readMessages(request.input);
    const canCreate = request.if_not_exists === 'create';
    const named = threadName === undefined ? undefined : { accountId, threadName };
    const user = readUser({ metadata: request.metadata });
    const thread = named && (await (canCreate ? threads.findOrCreate(named, user) : threads.find(named)));
    const checkpoint = request.checkpoint_id ?? request.checkpoint?.checkpoint_id;
    if (named && checkpoint) await threads.requireCurrent(named, checkpoint);
    const place = { caller, thread, request, read };
    const begun = await withFieldNames(fieldNames, () => this.carryOut(place, threadName));
    return { ...begun, threadName: threadName ?? begun.run.thread_id };
  }

  /** Rejects with `run_not_found` for what is no run of the thread. */
  async find({ accountId, threadName, runName }: Named): Promise<GraphRun> {
    const { threadId } = await this.dependencies.threads.find({ accountId, threadName });
    const unknown = new ApiError('run_not_found', `There is no run ${runName} on the thread ${threadName}.`);
    const named = readSegmentName(runName);
    const id = runIdSchema.safeParse(named?.runId).data;
    if (!named || id === undefined) throw unknown;
    const run = await this.dependencies.runs.get({ accountId, runId: id });
    if (run.thread_id !== threadId || named.after > run.last_seq) throw unknown;
    return { run, segment: { runId: id, after: named.after }, threadName };
  }

  /** The ids of what the thread waits for. */
  async listInterrupts(named: NamedThread): Promise<readonly string[]> {
    const waiting = await this.findWaiting(await this.dependencies.threads.find(named));
    if (!waiting?.waiting) return [];
    return toInterrupts(waiting.waiting, waiting.id, new MessageState(noNames)).map(({ id }) => id);
  }

  async get(named: Named) {
    return this.show(named.accountId, await this.find(named));
  }

  /** As it is now. */
  async show(accountId: AccountId, { run, segment, threadName }: GraphRun) {
    const translator = await this.replay(accountId, { run, segment, threadName });
    const { ending } = translator;
    const status = ending?.status ?? (run.status === 'queued' && segment.after === 0 ? 'pending' : 'running');
    return { ...toGraphRun(run, threadName), run_id: toSegmentName(segment), status };
  }

  async list(
    { accountId, threadName }: NamedThread,
    query: { limit: number; offset: number; status?: string | undefined },
  ) {
    const thread = await this.dependencies.threads.find({ accountId, threadName });
    const runs = (await this.dependencies.threads.listRuns(thread)).map((run) => toGraphRun(run, threadName));
    const wanted = runs.filter(({ status }) => query.status === undefined || status === query.status);
    return wanted.slice(query.offset, query.offset + query.limit);
  }

  /** Where a client begins to read that joins now: with the reply that is being written, or else after the newest fact. */
  async findNow(accountId: AccountId, { run, segment }: GraphRun) {
    let open: number | undefined;
    let last = segment.after;
    for await (const fact of this.readLog({ accountId, runId: run.id })) {
      if (fact.type === 'iteration.started' || fact.type === 'iteration.restarted') open = fact.seq;
      if (fact.type === 'message.created') open = undefined;
      last = fact.seq;
    }
    return open === undefined || open <= segment.after
      ? { place: 1, seq: last, units: lastOfFact }
      : { place: 1, seq: open, units: 0 };
  }

  /** After the state that a client shows, which is named by its last message; the beginning if no fact of the segment made it. */
  async findCheckpoint(accountId: AccountId, { run, segment }: GraphRun, checkpointId: string): Promise<Position> {
    const thread = { accountId, threadId: run.thread_id };
    const state = await this.dependencies.threads.readStateBefore(thread, run.id);
    for await (const fact of this.readLog({ accountId, runId: run.id })) {
      const added = fact.type === 'message.created' ? state.add(fact.data.message) : [];
      if (added.at(-1)?.id !== checkpointId) continue;
      return fact.seq <= segment.after ? beginning : { place: 1, seq: fact.seq, units: lastOfFact };
    }
    return beginning;
  }

  private async carryOut(place: Place, threadName: string | undefined): Promise<BegunSegment> {
    const { caller, thread, request, read } = place;
    const waiting = thread && (await this.findWaiting(thread));
    const resume = request.command?.resume;
    if (resume !== undefined && resume !== null) {
      if (waiting) return this.resume(place, waiting, resume);
      throw new ApiError('run_not_waiting', 'Nothing on this thread waits for an answer.');
    }
    const { results, messages, replies } = read;
    if (waiting?.waiting?.reason === 'caller_tools' && results.size > 0 && messages.length === 0)
      return this.answerCalls(caller, waiting, requireAll(waiting, results));
    if (waiting && beganWith(waiting, messages)) return { run: waiting, segment: { runId: waiting.id, after: 0 } };
    if (waiting && request.multitask_strategy !== 'interrupt') return this.answerInWords(place, waiting);
    if (messages.length === 0 && results.size > 0)
      throw new ApiError('tool_call_not_awaited', `No call waits for a result of ${[...results.keys()].join(', ')}.`);
    if (replies.length > 0 && !(await this.areKnown(place)))
      throw refuseField('input.messages', 'replies of the model are written by Rondo');
    return this.create(place, threadName);
  }

  private async findWaiting(thread: ThreadAddress): Promise<Run | undefined> {
    const statuses = ['waiting_input', 'waiting_budget', 'waiting_tool'] as const;
    return (await this.dependencies.runs.list({ ...thread, statuses, limit: 1 })).data[0];
  }

  /** Whether the replies that a client sends are those of the thread, as one does that sends the whole state each time. */
  private async areKnown({ thread, read }: Place): Promise<boolean> {
    if (!thread) return false;
    const names = new Set(await this.listMessageIds(thread));
    return read.replies.every((name) => name !== null && names.has(name));
  }

  private async listMessageIds({ accountId, threadId }: ThreadAddress): Promise<readonly string[]> {
    const { values } = await this.dependencies.threads.getState({ accountId, threadName: threadId });
    return values.messages.map(({ id }) => id);
  }

  private async create(place: Place, threadName: string | undefined): Promise<BegunSegment> {
    const { caller, thread, request } = place;
    const { accountId } = caller;
    const read = place.read.replies.length > 0 ? await this.leaveOutKnown(place) : place.read;
    const { agent, model } = await this.dependencies.assistants.choose(accountId, request.assistant_id);
    const settings = toSettings(request);
    const own = {
      ...writeNames(read.messages),
      ...(agent === undefined && { [ownKeys.assistant]: request.assistant_id }),
    };
    const body: RunRequest = {
      ...settings,
      instructions: read.instructions,
      thread_id: thread?.threadId,
      input: read.messages.length === 0 ? undefined : toInput(read.messages),
      ...(agent ? { agent_id: agent } : { model: settings.model ?? model }),
      on_active_run: strategies[request.multitask_strategy ?? 'enqueue'],
      metadata: { ...request.metadata, ...own },
    };
    if (body.input === undefined && !thread)
      throw refuseField('input.messages', 'a new thread needs a message of the user');
    const { instructions: _, ...asked } = body; // some clients write the time into them
    const promised = threadName === undefined ? undefined : toKey(threadName, read.messages, asked);
    const outcome = await this.dependencies.idempotent.once<BegunSegment, Run>(
      { caller, key: promised, path: '/langgraph/runs', body: asked },
      (pending) => this.createRun(caller, body, pending),
    );
    return 'result' in outcome ? outcome.result : this.takeUp(caller, body, outcome.replayed as Run); // as it was stored above
  }

  /** The run that an earlier POST of the same messages has begun, unless it is asked for again after that is over. */
  private async takeUp(caller: Caller, body: RunRequest, { id }: Run): Promise<BegunSegment> {
    const known = await this.dependencies.runs.get({ accountId: caller.accountId, runId: id });
    const age = known.finished_at === null ? 0 : Date.now() - Date.parse(known.finished_at);
    const isSame = known.status !== 'failed' && known.status !== 'stopped' && age < repeatedWithinMs;
    return isSame ? { run: known, segment: { runId: id, after: 0 } } : this.createRun(caller, body);
  }

  private async createRun(
    { accountId, keyId }: Caller,
    body: RunRequest,
    promised?: PendingKey<Run>,
  ): Promise<BegunSegment> {
    const begun = await this.dependencies.service.create(accountId, body, { promised, createdBy: keyId });
    const segment = { runId: begun.run.id, after: 0 };
    return { run: begun.run, segment, begun: { ...begun, isOnNewThread: body.thread_id === undefined } };
  }

  private async leaveOutKnown({ thread, read }: Place): Promise<ReadInput> {
    const known = new Set(thread ? await this.listMessageIds(thread) : []);
    return { ...read, messages: read.messages.filter(({ name }) => name === null || !known.has(name)) };
  }

  private async resume({ caller }: Place, run: Run, resume: unknown): Promise<BegunSegment> {
    const { accountId } = caller;
    const { waiting } = run;
    switch (waiting?.reason) {
      case 'ask': {
        const id = waiting.question?.tool_call_id ?? '';
        await this.dependencies.service.answer({
          accountId,
          runId: run.id,
          content: toWords(findAnswer(resume, [id])),
        });
        break;
      }
      case 'approval':
        await this.decide(caller, waiting, resume);
        break;
      case 'caller_tools':
        return this.answerCalls(caller, run, readResults(resume, waiting.tool_calls ?? []));
      case 'budget':
      case 'elicitation':
      case 'tool_unknown':
      case 'child_runs':
      case undefined:
        throw waitsForOther(run);
    }
    return goOn(run);
  }

  private async answerCalls(
    { accountId, keyId: answeredBy }: Caller,
    run: Run,
    results: ReadInput['results'],
  ): Promise<BegunSegment> {
    const answers = (run.waiting?.tool_calls ?? []).flatMap(({ tool_call_id: callId }) => {
      const result = results.get(callId);
      return result ? [{ callId, result }] : [];
    });
    await this.dependencies.service.answerCalls({ accountId, runId: run.id, answers, answeredBy });
    return goOn(run);
  }

  private async decide(caller: Caller, { approvals = [] }: Waiting, resume: unknown): Promise<void> {
    const given = findAnswer(
      resume,
      approvals.map(({ approval_id: id }) => id),
    );
    const decisions = readDecisions(given, approvals.length);
    const all = approvals.flatMap(({ approval_id: approvalId }, index) => {
      const decision = decisions[index];
      return decision ? [{ approvalId, ...decision }] : [];
    });
    await decideAll(this.dependencies, caller, all);
  }

  /** Words of the user answer a question; what else the run waits for they do not. */
  private async answerInWords(place: Place, run: Run): Promise<BegunSegment> {
    const { accountId } = place.caller;
    const { messages } = place.read.replies.length > 0 ? await this.leaveOutKnown(place) : place.read;
    const question = run.waiting?.reason === 'ask' ? run.waiting.question : undefined;
    if (!question) throw waitsForOther(run);
    if (messages.length === 0) throw refuseField('command.resume', `${run.id} waits for an answer: give it`);
    const { thread_id: threadId } = run;
    await this.dependencies.service.answer({ accountId, runId: run.id, content: toInput(messages) });
    const name = messages.at(-1)?.name;
    if (typeof name === 'string')
      await this.dependencies.threads.name({ accountId, threadId }, question.tool_call_id, name);
    return goOn(run);
  }

  /** The segment as its facts have it. */
  private async replay(accountId: AccountId, { run, segment, threadName }: GraphRun): Promise<LangGraphTranslator> {
    const names = { runName: toSegmentName(segment), threadName };
    const options = { segment, ...names, modes: new Set<never>(), from: beginning };
    const translator = new LangGraphTranslator(options, new MessageState(noNames));
    for await (const fact of this.readLog({ accountId, runId: run.id })) translator.translate(fact);
    return translator;
  }

  private async *readLog(address: RunAddress) {
    for await (const { data } of readLogPages(this.dependencies.runs, address)) yield* data;
  }
}

/** More frames than a fact has. */
const lastOfFact = 1_000;

/** The segment that begins with the answer to what the run waits for. */
const goOn = (run: Run): BegunSegment => ({
  run,
  segment: { runId: run.id, after: run.last_seq },
});

/** Whether these messages are sent again: the run began with them, so they answer nothing that it asks. */
function beganWith({ metadata }: Run, messages: ReadInput['messages']): boolean {
  const begun = readNames(metadata)?.map(([name]) => name) ?? [];
  const isSame = begun.length === messages.length && messages.every(({ name }, index) => name === begun[index]);
  return isSame && begun.length > 0 && !begun.includes(null);
}

/** Throws InvalidRequest where a call has no result. Results of other calls are those of the history. */
function requireAll({ waiting }: Run, results: ReadInput['results']): ReadInput['results'] {
  const missing = waiting?.tool_calls?.find(({ tool_call_id: id }) => !results.has(id));
  if (!missing) return results;
  throw refuseField('input.messages', `no tool message for ${missing.tool_call_id}`);
}

const waitsForOther = ({ id, waiting }: Run): ApiError =>
  new ApiError(
    'thread_busy',
    `${id} waits (${waiting?.reason ?? 'for nothing'}): answer it with command.resume, raise its budget or resolve its call at /v1/runs/${id}, or replace it with multitask_strategy "interrupt".`,
  );

const statuses = {
  queued: 'pending',
  running: 'running',
  stopping: 'running',
  waiting_child: 'running',
  waiting_input: 'interrupted',
  waiting_budget: 'interrupted',
  waiting_tool: 'interrupted',
  completed: 'success',
  failed: 'error',
  stopped: 'interrupted',
} as const satisfies Record<Run['status'], string>;

const toGraphRun = (run: ThreadRun, threadName: string) => ({
  run_id: toSegmentName({ runId: run.id, after: 0 }),
  thread_id: threadName,
  assistant_id: toAssistantId(run),
  created_at: run.created_at,
  updated_at: run.finished_at ?? run.started_at ?? run.created_at,
  status: findLimitError(run.finish_reason) ? 'error' : statuses[run.status],
  metadata: toShownMetadata(run.metadata),
  kwargs: {},
  multitask_strategy: null,
  cancel_reason: run.status === 'stopped' ? 'interrupt' : null,
});
