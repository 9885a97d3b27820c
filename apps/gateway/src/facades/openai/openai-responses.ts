import { createHash } from 'node:crypto';
import type { AccountId, EndUser, Run, SettingsRequest } from '@rondo/contract';
import type { OpenAiChatRequest, OpenAiResponseRequest } from '@rondo/contract/api';
import type { Agents, Caller, FacadeIds, Runs, Threads } from '@rondo/persistence';
import type { AuditedRuns } from '../../audit/audited-runs';
import type { NewRunLog } from '../../live/run-subscriptions';
import { ApiError, InvalidRequest, refuseField } from '../../problems/api-error';
import type { RunRequest, RunService } from '../../runs/run-service';
import type { RunSettingsResolver } from '../../settings/run-settings';
import { decideAll } from '../facade-approvals';
import { toModelName } from '../facade-models';
import { findNamedAgent } from '../named-agents';
import { type KnownResponses, type Place, facade, toChatHash, toUser } from './known-responses';
import { findSegmentStarts, toItemId, toResponseId } from './openai-ids';
import { ownKeys, toResponseOptions, withApproved } from './openai.objects';
import {
  type ReadRequest,
  asking,
  readChatRequest,
  readResponseRequest,
  toChatSettings,
  toInput,
  toQuestion,
  toResponseSettings,
  toUserBlocks,
} from './openai.requests';
import type { ResponseOptions } from './openai.translate';

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

/** A run that a request begins, if it does not go on with one. */
interface Wanted {
  readonly read: ReadRequest;
  readonly model: string | null | undefined;
  readonly settings: SettingsRequest;
  readonly metadata: Readonly<Record<string, string>>;
  /** Of a new thread. */
  readonly user: EndUser | undefined;
  readonly onActiveRun?: 'reject' | 'replace';
}

type Chosen = Pick<RunRequest, 'agent_id' | 'model'>;

/** The same with what its model is the name of. */
interface NamedRun extends Wanted {
  readonly chosen: Chosen;
}

interface OpenAiResponsesDependencies {
  readonly ids: Pick<FacadeIds, 'nameRun' | 'findRun'>;
  readonly known: KnownResponses;
  readonly runs: Pick<Runs, 'get' | 'list' | 'approval'>;
  readonly threads: Pick<Threads, 'delete'>;
  readonly agents: Pick<Agents, 'findId'>;
  readonly service: Pick<RunService, 'create' | 'answer' | 'answerCalls'>;
  readonly acts: Pick<AuditedRuns, 'decideTogether'>;
  readonly settings: Pick<RunSettingsResolver, 'isModelName'>;
}

/** What clients of OpenAI's API do with responses and chats, in terms of threads and runs. It keeps nothing. */
export class OpenAiResponses {
  constructor(private readonly dependencies: OpenAiResponsesDependencies) {}

  /** Carries out what a request says. Rejects with the problems of what it does. */
  async respond(caller: Caller, request: OpenAiResponseRequest): Promise<BegunResponse> {
    const read = readResponseRequest(request);
    const { place, previous } = await this.dependencies.known.findPlace(caller.accountId, request, read);
    const declaresAsk = request.tools?.some(({ name }) => name === asking) ?? false;
    const metadata = {
      ...request.metadata,
      ...(previous !== undefined && { [ownKeys.previous]: previous }),
      ...(request.background && { [ownKeys.background]: 'true' }),
      ...(declaresAsk && { [ownKeys.declaresAsk]: 'true' }),
    };
    const settings = toResponseSettings(request);
    const user = toUser(request);
    return this.carryOut(caller, place, { read, model: request.model, settings, metadata, user });
  }

  /** The same for a chat. Its thread is found by what was said before. */
  async chat(caller: Caller, request: OpenAiChatRequest): Promise<BegunResponse> {
    const { accountId } = caller;
    const read = readChatRequest(request);
    const known = await this.dependencies.known.findChat(accountId, request, read);
    const chat = toChatHash(request, [...read.history, toQuestion(read.content)]);
    const settings = toChatSettings(request);
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
      return this.dependencies.known.find(accountId, toResponseId(known));
    const begun = await begin();
    await this.name(accountId, name, begun);
    return begun;
  }

  private name(accountId: AccountId, name: string, { run, options: { after } }: BegunResponse): Promise<void> {
    const { id: runId, thread_id: threadId } = run;
    return this.dependencies.ids.nameRun({ accountId, facade, name, threadId, runId, after });
  }

  /** Deletes the thread of a response that is alone on it. */
  async delete(accountId: AccountId, responseId: string): Promise<void> {
    const { run, isLatest, options } = await this.dependencies.known.find(accountId, responseId);
    const { data } = await this.dependencies.runs.list({ accountId, threadId: run.thread_id, limit: 2 });
    if (data.length > 1 || !isLatest || options.after !== 0)
      throw refuseField('response_id', 'its thread has other responses: delete the conversation');
    await this.dependencies.threads.delete({ accountId, threadId: run.thread_id });
  }

  private async carryOut(caller: Caller, place: Place, wanted: Wanted): Promise<BegunResponse> {
    const { newest } = place;
    const { outputs, approvals } = wanted.read;
    const question = newest?.waiting?.reason === 'ask' ? newest.waiting.question : undefined;
    if (newest?.waiting?.reason === 'caller_tools') {
      const chosen = await this.choose(caller.accountId, wanted.model);
      return isOfAnotherAgent(newest, wanted, chosen)
        ? this.handOver(caller, { ...place, newest }, { ...wanted, chosen })
        : this.answerCalls(caller, newest, wanted.read);
    }
    if (newest?.waiting?.reason === 'approval' && approvals.size > 0) return this.decide(caller, newest, wanted.read);
    if (approvals.size > 0)
      throw new ApiError('approval_not_open', `Nothing waits for an answer to ${[...approvals.keys()].join(', ')}.`);
    if (newest && question) return this.answer(caller, newest, wanted.read);
    if (outputs.size > 0)
      throw new ApiError('tool_call_not_awaited', `No call waits for an output of ${[...outputs.keys()].join(', ')}.`);
    return this.begin(caller, place, { ...wanted, chosen: await this.choose(caller.accountId, wanted.model) });
  }

  /** A name that is none of an agent is one of a model. */
  private async choose(accountId: AccountId, name: Wanted['model']): Promise<Chosen> {
    if (!name) return {};
    const agent = await findNamedAgent(this.dependencies.agents, accountId, name);
    return agent ? { agent_id: agent } : { model: toModelName(name, 'openai', this.dependencies.settings) };
  }

  private async begin(
    { accountId, keyId }: Caller,
    { threadId }: Place,
    { model, chosen, settings, metadata, read, user, onActiveRun = 'reject' }: NamedRun,
  ): Promise<BegunResponse> {
    const request: RunRequest = {
      ...settings,
      ...chosen,
      instructions: read.instructions,
      thread_id: threadId,
      input: toInput(read),
      on_active_run: onActiveRun,
      user: threadId === undefined ? user : undefined,
      metadata: { ...metadata, ...(model && { [ownKeys.model]: model }) },
    };
    const { run, facts } = await namingAgents(model, () =>
      this.dependencies.service.create(accountId, request, { createdBy: keyId }),
    );
    return { run, options: toResponseOptions(run, { runId: run.id, after: 0 }, undefined), begun: { run, facts } };
  }

  /** The answer to a question: in words, or as the output of the function that the client declared. */
  private async answer({ accountId }: Caller, run: Run, read: ReadRequest): Promise<BegunResponse> {
    const said = read.outputs.get(run.waiting?.question?.tool_call_id ?? '');
    if (said !== undefined && read.content.length > 0)
      throw refuseField(read.field, 'give the output of a call without further messages');
    const content =
      said && !said.image
        ? [{ type: 'text' as const, text: said.output ?? '' }]
        : toInput({ ...read, history: [], ...(said && { content: toUserBlocks(said) }) });
    const next = await this.toNextSegment(accountId, run);
    await this.dependencies.service.answer({ accountId, runId: run.id, content });
    return next;
  }

  private async answerCalls({ accountId, keyId }: Caller, run: Run, read: ReadRequest): Promise<BegunResponse> {
    const answers = readAnswers(run, read);
    if (read.content.length > 0) throw refuseField(read.field, 'give the outputs of calls without further messages');
    const next = await this.toNextSegment(accountId, run);
    await this.dependencies.service.answerCalls({ accountId, runId: run.id, answers, answeredBy: keyId });
    return next;
  }

  /** The run has the tools and the instructions of the agent that made the calls, so another one needs a run of its own. */
  private handOver(caller: Caller, place: Place & { readonly newest: Run }, wanted: NamedRun): Promise<BegunResponse> {
    const { read } = wanted;
    const returned = readAnswers(place.newest, read).flatMap(({ name, result }) =>
      toUserBlocks(result, `${name} returned: `),
    );
    const handed = { ...read, history: [], content: [...returned, ...read.content] };
    return this.begin(caller, place, { ...wanted, read: handed, onActiveRun: 'replace' });
  }

  /** All that is asked, or nothing. */
  private async decide(caller: Caller, run: Run, { approvals, content }: ReadRequest): Promise<BegunResponse> {
    const decisions = (run.waiting?.approvals ?? []).map(({ approval_id: approvalId, tool_call_id: callId }) => {
      const id = toItemId('mcpr', run.id, callId);
      const given = approvals.get(id);
      if (!given) throw refuseField('input', `No mcp_approval_response for ${id}.`);
      const decision = given.approve ? ('approve' as const) : ('deny' as const);
      return { approvalId, decision, reason: given.reason ?? undefined };
    });
    if (content.length > 0) throw refuseField('input', 'give the approvals of calls without further messages');
    const next = await this.toNextSegment(caller.accountId, run);
    await decideAll(this.dependencies, caller, decisions);
    return next;
  }

  /** The response that begins with the answer to what the run waits for. */
  private async toNextSegment(accountId: AccountId, run: Run): Promise<BegunResponse> {
    const facts = await this.dependencies.known.readLog({ accountId, runId: run.id });
    const after = facts.findLast(({ type }) => type === 'run.waiting')?.seq ?? run.last_seq;
    const previous = { runId: run.id, after: findSegmentStarts(facts).at(-1) ?? 0 };
    return { run, options: withApproved(toResponseOptions(run, { runId: run.id, after }, previous), facts) };
  }
}

/** A name without a provider may have been meant as that of an agent, so the refusal of its model says that there is none. */
async function namingAgents<Result>(name: Wanted['model'], begin: () => Promise<Result>): Promise<Result> {
  try {
    return await begin();
  } catch (error) {
    if (!(error instanceof InvalidRequest) || !name || name.includes('/')) throw error;
    throw new InvalidRequest(
      error.about.errors.map(({ field, message }) => ({
        field,
        message: field === 'model' ? `There is no agent ${JSON.stringify(name)}. ${message}` : message,
      })),
    );
  }
}

/** When its run is over so long, a request is a new one. */
const repeatedWithinMs = 120_000;
/** What the client has for the calls that a run waits for: all of them, or none. */
function readAnswers({ waiting }: Run, { outputs, field }: ReadRequest) {
  return (waiting?.tool_calls ?? []).map(({ tool_call_id: callId, name }) => {
    const result = outputs.get(callId);
    if (result) return { callId, name, result };
    throw refuseField(field, `No tool output found for function call ${callId}.`);
  });
}

/** Agents of a client hand over with a call, and the next request has what the other one is to be told and can use. */
function isOfAnotherAgent(
  { agent_id: stored, metadata, settings: { caller_tools: own = [], agent } }: Run,
  { model, read: { instructions }, settings: { caller_tools: given = [] } }: Wanted,
  chosen: Chosen,
): boolean {
  if (stored !== null && model && model !== metadata[ownKeys.model] && chosen.agent_id !== stored) return true;
  if (given.length === 0) return stored === null && instructions !== undefined && instructions !== agent.system_prompt;
  const names = new Set(given.map(({ name }) => name));
  return names.size !== own.length || !own.every(({ name }) => names.has(name));
}
