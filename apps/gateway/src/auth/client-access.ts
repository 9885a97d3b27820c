import type { AgentId, ClientScope, EndUser, InputBlock, ProjectId, RunSettings, ThreadId } from '@rondo/contract';
import { pathParams } from '@rondo/contract/api';
import { type Audiences, type Caller, type ClientAccess, isReachable } from '@rondo/persistence';
import { ApiError, InvalidRequest, refuseField } from '../problems/api-error';

/** The person, or the thread, that a client token is for, within all accounts. */
export function toClientName({ accountId, client }: Pick<Caller, 'accountId' | 'client'>): string {
  return JSON.stringify([accountId, client?.audience.user ?? null, client?.audience.threadId ?? null]);
}

/** The key, or the user of an outside issuer, that a run counts for. */
export const readMaker = ({ client, keyId }: Caller): string => client?.createdBy ?? keyId;

/** Throws `forbidden` where the token lacks the scope, and where what is asked for is closed to client tokens. */
export function requireClientScope({ scopes }: ClientAccess, required: ClientScope | undefined): void {
  if (required === undefined) throw new ApiError('forbidden', 'A client token may not do this.');
  if (scopes.includes(required)) return;
  throw new ApiError('forbidden', `This needs a client token with the scope ${required}.`);
}

/** The texts of a message of a socket, of which some are ids. */
export const readIds = (body: unknown): Record<string, unknown> => ({ ...(body ?? {}) });

/** What a client token reaches: what is of its person's threads, or of its thread. Everything else does not exist for it. */
export class ClientReach {
  constructor(private readonly audiences: Pick<Audiences, 'reaches'>) {}

  /**
   * Rejects with the problem of an unknown id, for the first of these that the caller does not reach. The names are those of
   * parameters of paths; a value that is no id is left to the schema that reads it.
   */
  async require({ accountId, client }: Caller, ids: Readonly<Record<string, unknown>>): Promise<void> {
    if (!client) return;
    for (const [name, id] of Object.entries(ids)) {
      if (!isReachable(name) || !pathParams[name].schema.safeParse(id).success || typeof id !== 'string') continue;
      if (await this.audiences.reaches({ accountId, audience: client.audience, name, id })) continue;
      const { noun, code } = pathParams[name].unknown;
      throw new ApiError(code, `There is no ${noun} ${id}.`);
    }
  }

  async includes(caller: Caller, name: 'file_id' | 'sha256', id: string): Promise<boolean> {
    const { accountId, client } = caller;
    return !client || this.audiences.reaches({ accountId, audience: client.audience, name, id });
  }
}

/** All else is decided by the server that made the token: what a run costs, which tools and secrets it has, and how it is told to act. */
const fieldsOfClients: ReadonlySet<string> = new Set([
  'thread_id',
  'input',
  'files',
  'edit_message_id',
  'on_active_run',
  'user',
  'metadata',
  'title',
]);

interface Content {
  readonly content?: readonly InputBlock[] | undefined;
  readonly files?: readonly string[] | undefined;
}

interface ThreadFields {
  readonly user?: EndUser | undefined;
  readonly agent_id?: AgentId | undefined;
  readonly project_id?: ProjectId | undefined;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly title?: string | undefined;
}

interface RunFields extends ThreadFields {
  readonly thread_id?: ThreadId | undefined;
  readonly input?: readonly InputBlock[] | undefined;
  readonly files?: readonly string[] | undefined;
}

/** What a client token may ask for: the requests of other callers pass as they are. */
export class ClientRequests {
  constructor(private readonly reach: Pick<ClientReach, 'require' | 'includes'>) {}

  /**
   * The request of a run, on the thread of the token, or on a new one of its person. Rejects with `thread_not_found`,
   * `forbidden`, and InvalidRequest for a field that is not for browsers.
   */
  async narrow<Request extends RunFields>(caller: Caller, request: Request): Promise<Request> {
    const { client } = caller;
    if (!client) return request;
    refuseFields(client, request);
    const thread = request.thread_id ?? client.audience.threadId ?? undefined;
    await this.reach.require(caller, { thread_id: thread });
    await this.requireContent(caller, { content: request.input, files: request.files });
    if (thread !== undefined) return { ...request, thread_id: thread, user: undefined };
    return { ...request, ...readOwner(client) };
  }

  /** Rejects with `forbidden` for files without the scope, and with InvalidRequest for what others have uploaded. */
  async requireContent(caller: Caller, { content = [], files = [] }: Content): Promise<void> {
    if (!caller.client) return;
    if (files.length > 0) requireClientScope(caller.client, 'files');
    for (const [index, id] of files.entries())
      if (!(await this.reach.includes(caller, 'file_id', id)))
        throw refuseField(`files.${index}`, 'there is no such file');
    for (const [index, block] of content.entries()) {
      const hash = block.type === 'image' && block.source.type === 'blob' ? block.source.sha256 : undefined;
      if (hash !== undefined && !(await this.reach.includes(caller, 'sha256', hash)))
        throw refuseField(`content.${index}`, 'there is no such image');
    }
  }
}

/** The request of a thread without a run. Throws `forbidden`, and InvalidRequest for a field that is not for browsers. */
export function narrowThread<Request extends ThreadFields>({ client }: Caller, request: Request): Request {
  if (!client) return request;
  if (client.audience.threadId !== null) throw new ApiError('forbidden', 'A token for one thread creates none.');
  refuseFields(client, request);
  return { ...request, ...readOwner(client) };
}

function refuseFields({ audience }: ClientAccess, request: object): void {
  const given = Object.entries(request).filter(([, value]) => value !== undefined);
  const foreign = given.filter(([name]) => !fieldsOfClients.has(name));
  if (foreign.length > 0)
    throw new InvalidRequest(foreign.map(([field]) => ({ field, message: 'is not for client tokens' })));
  if (given.some(([name, value]) => name === 'user' && value !== audience.user))
    throw refuseField('user', 'must be that of the token');
}

const readOwner = ({ audience, agentId }: ClientAccess) => ({
  user: audience.user ?? undefined,
  agent_id: agentId ?? undefined,
});

/** How the agent is told to act, and what it is connected to, is not for browsers. */
function toShownSettings(settings: RunSettings): RunSettings {
  const { agent, mcp_servers: _, secrets: __, tool_policies: ___, fallbacks: ____, ...others } = settings;
  const { skills: _____, memory: ______, environment: _______, ...shown } = others;
  return { ...shown, agent: agent.name === undefined ? {} : { name: agent.name } };
}

const isRun = (value: object): value is { settings: RunSettings } => 'settings' in value && 'last_seq' in value;

/** An answer as a browser gets it: runs, and pages of runs, without what only its server should know. */
function withoutSettings(answer: unknown): unknown {
  if (typeof answer !== 'object' || answer === null) return answer;
  if (isRun(answer)) return { ...answer, settings: toShownSettings(answer.settings) };
  if ('data' in answer && Array.isArray(answer.data)) return { ...answer, data: answer.data.map(withoutSettings) };
  return answer;
}

/** What an answer shows to its caller. */
export const toShownAnswer = (caller: Caller | undefined, answer: unknown): unknown =>
  caller?.client ? withoutSettings(answer) : answer;
