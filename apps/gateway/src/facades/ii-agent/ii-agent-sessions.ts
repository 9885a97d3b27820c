import { randomUUID } from 'node:crypto';
import {
  type AccountId,
  type FileId,
  type InputBlock,
  type Run,
  type ThreadId,
  fileId,
  isTerminal,
  isWaiting,
} from '@rondo/contract';
import type { IiAgentEvent, IiAgentInit, IiAgentQuery } from '@rondo/contract/api';
import type { Agents, BegunRun, Caller, FacadeIds, Runs, ThreadAddress, Threads } from '@rondo/persistence';
import { type ClientReach, type ClientRequests, requireClientScope } from '../../auth/client-access';
import { requireScope } from '../../auth/api-request';
import { ApiError, refuseField } from '../../problems/api-error';
import type { RunRequest, RunService } from '../../runs/run-service';
import type { RunSettingsResolver } from '../../settings/run-settings';
import type { FacadeModels } from '../facade-models';
import type { FacadeThreads } from '../facade-threads';
import { readLogPages } from '../log-pages';
import { chooseByName } from '../named-agents';
import { type FramePlace, IiAgentTranslator, type LoggedFrame, readFrameId } from './ii-agent.translate';

const facade = 'ii';
const mostSessions = 100;
const mostAgents = 200;
const mostEvents = 2_000;
/** A page of them. */
const mostRuns = 100;
/** Below it, no provider is asked to think. */
const leastThinkingTokens = 1_024;

/** A session as its client names it. */
export interface NamedSession {
  readonly caller: Caller;
  readonly name: string;
}

/** The events that a reader has, and whether more are about to come. */
interface SessionStart {
  readonly from: FramePlace;
  readonly isProcessing: boolean;
}

/** What runs of a socket begin with. */
export type ChosenSettings = Pick<RunRequest, 'agent_id' | 'model' | 'profile' | 'llm'>;

interface IiAgentSessionsDependencies {
  readonly ids: Pick<FacadeIds, 'listThreadNames'>;
  readonly threads: FacadeThreads;
  readonly listed: Pick<Threads, 'list'>;
  readonly runs: Pick<Runs, 'list' | 'listBegun' | 'findNewestBegun' | 'events' | 'active'>;
  readonly agents: Pick<Agents, 'listNames' | 'findId'>;
  readonly settings: Pick<RunSettingsResolver, 'isModelName'>;
  readonly service: Pick<RunService, 'answer' | 'stop'>;
  readonly models: Pick<FacadeModels, 'list'>;
  readonly clientReach: Pick<ClientReach, 'require'>;
  readonly clientRequests: Pick<ClientRequests, 'narrow' | 'requireContent'>;
}

/** Sessions of II-Agent in terms of threads and runs. A session is there from its first query on. */
export class IiAgentSessions {
  constructor(private readonly dependencies: IiAgentSessionsDependencies) {}

  /** The one that is asked for, else a new one. */
  name({ client }: Caller, wanted: string | undefined): string {
    return wanted ?? client?.audience.threadId ?? randomUUID();
  }

  /** Undefined for one that was never used. Rejects with `thread_not_found` for one that the caller does not reach. */
  async find({ caller, name }: NamedSession): Promise<ThreadId | undefined> {
    const threadId = await this.dependencies.threads.find({ accountId: caller.accountId, facade, chatId: name });
    await this.dependencies.clientReach.require(caller, { thread_id: threadId });
    if (!threadId && caller.client?.audience.threadId) throw notFound(name);
    return threadId;
  }

  /** Where a reader begins: after the event that it has, or that it was shown; else with the run that is active, else with the next one. */
  async findStart(
    thread: ThreadAddress,
    after: string | undefined,
    shown: FramePlace | undefined,
  ): Promise<SessionStart> {
    const newest = await this.dependencies.runs.findNewestBegun(thread);
    const active = await this.dependencies.runs.active(thread);
    const last = newest?.place ?? 0;
    const isProcessing = active !== undefined && !isWaiting(active.status);
    const from = after === undefined ? undefined : readFrameId(after);
    if (after !== undefined && (!from || from.place > last))
      throw new ApiError('invalid_cursor', 'after must be the id of an event.');
    const place = active && active.id === newest?.id ? last : last + 1;
    const known = from ?? (shown && shown.place <= last ? shown : undefined);
    return { from: known ?? { place, seq: 0, index: 0 }, isProcessing };
  }

  /** Names that `choose` takes: stored agents, and the models that the account may use. */
  async listChoices(accountId: AccountId): Promise<string[]> {
    const { agents, models } = this.dependencies;
    const range = { accountId, sort: 'name', order: 'asc', limit: mostAgents, offset: 0 } as const;
    const stored = await agents.listNames(range);
    const allowed = await models.list(accountId);
    return [...stored.map(({ name }) => name), ...allowed.map(({ id }) => id)];
  }

  async choose(
    { accountId, client }: Caller,
    { model_name: name, thinking_tokens: tokens }: IiAgentInit,
  ): Promise<ChosenSettings> {
    if (client) return {};
    const llm = tokens >= leastThinkingTokens ? { enable_thinking: true, thinking_budget: tokens } : undefined;
    const chosen = await chooseByName(this.dependencies, accountId, name);
    return { ...chosen, ...(chosen.model !== undefined && { profile: 'ii' as const }), ...(llm && { llm }) };
  }

  /** Begins a run, or answers the question of the one that waits. Rejects with the problems of that. */
  async ask(session: NamedSession, query: IiAgentQuery, settings: ChosenSettings): Promise<ThreadId> {
    const { caller } = session;
    const threadId = await this.find(session);
    const newest = threadId && (await this.dependencies.threads.findNewestRun(caller.accountId, threadId));
    if (newest && isWaiting(newest.status) && newest.waiting?.reason === 'ask')
      return this.answer(caller, newest, query);
    requireSending(caller);
    if (newest && !query.resume) throw refuseField('resume', 'the model knows this session: open another one');
    return this.begin(session, threadId, { ...toContent(query), ...settings });
  }

  /** Replaces the newest question. */
  async edit(session: NamedSession, query: IiAgentQuery, settings: ChosenSettings): Promise<ThreadId> {
    const { accountId } = session.caller;
    requireSending(session.caller);
    const threadId = await this.find(session);
    const question = threadId && (await this.dependencies.threads.findNewestQuestion(accountId, threadId));
    if (!question) throw new ApiError('invalid_request', 'There is no question that could be edited.');
    return this.begin(session, threadId, { ...toContent(query), ...settings, edit_message_id: question });
  }

  /** The run that a cancel stops. */
  async findActive(session: NamedSession): Promise<Run> {
    requireSending(session.caller);
    const threadId = await this.find(session);
    const { accountId } = session.caller;
    const run = threadId && (await this.dependencies.threads.findNewestRun(accountId, threadId));
    if (!run || isTerminal(run.status)) throw new ApiError('run_not_found', 'No active agent for this session');
    return run;
  }

  async stop({ accountId }: Caller, { id: runId }: Run): Promise<void> {
    await this.dependencies.service.stop({ accountId, runId }, 'cancelled by the user');
  }

  /** The newest first. */
  async list(accountId: AccountId) {
    const { data } = await this.dependencies.listed.list({ accountId, limit: mostSessions });
    const names = await this.dependencies.ids.listThreadNames(
      { accountId, facade },
      data.map(({ id }) => id),
    );
    return data.map(({ id, created_at, title, preview }) => {
      const name = names.get(id) ?? id;
      return { id: name, workspace_dir: toWorkspace(name), created_at, device_id: '', name: title ?? preview ?? '' };
    });
  }

  /** The oldest first. Runs are read from the newest one on, until there are enough. */
  async listEvents(session: NamedSession): Promise<IiAgentEvent[]> {
    const threadId = await this.find(session);
    if (!threadId) throw notFound(session.name);
    const address = { accountId: session.caller.accountId, threadId };
    const newest = await this.dependencies.runs.findNewestBegun(address);
    const runs = await this.dependencies.runs.listBegun(address, Math.max(0, (newest?.place ?? 0) - mostRuns));
    let events: IiAgentEvent[] = [];
    for (const run of runs.toReversed())
      if (events.length < mostEvents) events = [...(await this.readRun(session, run)), ...events];
    return events;
  }

  private async readRun({ caller, name }: NamedSession, { id: runId, place }: BegunRun): Promise<IiAgentEvent[]> {
    const translator = new IiAgentTranslator(place);
    const events: IiAgentEvent[] = [];
    for await (const { data, gap } of readLogPages(this.dependencies.runs, { accountId: caller.accountId, runId })) {
      const [first] = data;
      if (gap && first) events.push(toEvent(translator.showGap(gap.to), { name, at: first.at }));
      for (const fact of data)
        events.push(...translator.translate(fact).map((frame) => toEvent(frame, { name, at: fact.at })));
    }
    return events;
  }

  private async answer(caller: Caller, { id: runId, thread_id }: Run, query: IiAgentQuery): Promise<ThreadId> {
    if (caller.client) requireClientScope(caller.client, 'answer');
    else requireScope(caller, 'write');
    const { input: content, files } = toContent(query);
    await this.dependencies.clientRequests.requireContent(caller, { content, files });
    await this.dependencies.service.answer({ accountId: caller.accountId, runId, content, files });
    return thread_id;
  }

  private async begin(
    { caller, name }: NamedSession,
    threadId: ThreadId | undefined,
    wanted: Partial<RunRequest>,
  ): Promise<ThreadId> {
    const given = { on_active_run: 'reject' as const, metadata: {}, ...wanted, thread_id: threadId };
    const { thread_id: _, ...request } = await this.dependencies.clientRequests.narrow(caller, given);
    return (await this.dependencies.threads.begin({ caller, facade, request }, name, threadId)).run.thread_id;
  }
}

/** The front end takes what is behind the last slash for the id of the session. */
export const toWorkspace = (name: string): string => `/workspace/${name}`;

const toEvent = (
  { id, type, content }: LoggedFrame,
  { name, at }: { readonly name: string; readonly at: string },
): IiAgentEvent => ({
  ...{ id, session_id: name, timestamp: at, event_type: type, event_payload: { type, content } },
  workspace_dir: toWorkspace(name),
});

/** As `POST /api/upload` answers it, and as the front end sends it back, with a dot before it. */
export const toUploadPath = (id: FileId, name: string): string => `/uploaded_files/${id}/${name}`;
const uploadPath = /^\.?\/uploaded_files\/([^/]+)\//;

function toContent({ text, files }: IiAgentQuery): { input: InputBlock[]; files: FileId[] | undefined } {
  if (/^\/(compact|help)\b/.test(text))
    throw refuseField('text', `${text} is not served: contexts are compacted by the settings of the agent`); // prettier-ignore
  const ids = files.map((path, index) => {
    const { success, data } = fileId.safeParse(uploadPath.exec(path)?.[1]);
    if (success) return data;
    throw refuseField(`files.${index}`, 'upload it, and give the path that this answers');
  });
  return { input: [{ type: 'text', text }], files: ids.length === 0 ? undefined : [...new Set(ids)] };
}

function requireSending(caller: Caller): void {
  if (caller.client) requireClientScope(caller.client, 'send');
  else requireScope(caller, 'write');
}

const notFound = (name: string): ApiError => new ApiError('thread_not_found', `There is no session ${name}.`);
