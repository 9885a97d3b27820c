import type {
  Agent,
  AgentChange,
  AgentComparison,
  AgentVersion,
  AgentSort,
  DeclaredAgent,
  NewAgent,
  SortOrder,
  ThreadAgent,
} from './generated/api.ts';
import { itemsOf } from './pages.ts';
import type { Options } from './runs.ts';
import type { Transport } from './transport.ts';

export interface ListAgents {
  /** A part of the name. */
  readonly search?: string;
  /** One tag, or several with commas between them: agents that have all of them. */
  readonly tag?: string;
  readonly is_default?: boolean;
  readonly has_mcp?: boolean;
  /** Definitions that name this tool, or else its group, and do not switch it off. */
  readonly tool?: string;
  /** Default: `created_at`, the newest first. */
  readonly sort?: AgentSort;
  readonly order?: SortOrder;
  readonly limit?: number;
}

/** The stored agents of an account, and their versions. */
export class Agents {
  constructor(private readonly transport: Transport) {}

  create(agent: NewAgent, { signal }: Options = {}): Promise<Agent> {
    return this.transport.json({ method: 'POST', path: '/v1/agents', json: agent, signal });
  }

  get(id: string, { signal }: Options = {}): Promise<Agent> {
    return this.transport.json({ path: pathOf(id), signal });
  }

  /** Newest first, unless sorted otherwise. */
  list(query: ListAgents = {}): AsyncGenerator<Agent, void> {
    return itemsOf(this.transport, '/v1/agents', { ...query });
  }

  /** Another definition becomes a new version. Refused if `if_version` is no longer the active one. */
  update(id: string, change: AgentChange, { signal }: Options = {}): Promise<Agent> {
    return this.transport.json({ method: 'PATCH', path: pathOf(id), json: change, signal });
  }

  /** Creates or changes the agent of this name. The same definition a second time changes nothing. */
  apply(name: string, agent: DeclaredAgent, { signal }: Options = {}): Promise<Agent> {
    const path = `/v1/agents/by-name/${encodeURIComponent(name)}`;
    return this.transport.json({ method: 'PUT', path, json: agent, signal });
  }

  async delete(id: string, { signal }: Options = {}): Promise<void> {
    await this.transport.send({ method: 'DELETE', path: pathOf(id), signal });
  }

  /** Newest first. */
  versions(id: string): AsyncGenerator<AgentVersion, void> {
    return itemsOf(this.transport, `${pathOf(id)}/versions`);
  }

  /** The note is all of a version that can change. Null removes it. */
  noteVersion(id: string, version: number, note: string | null): Promise<AgentVersion> {
    return this.transport.json({ method: 'PATCH', path: `${pathOf(id)}/versions/${version}`, json: { note } });
  }

  /** New runs begin with this version from then on. */
  activate(id: string, version: number, { signal }: Options = {}): Promise<Agent> {
    return this.transport.json({
      method: 'POST',
      path: `${pathOf(id)}/versions/${version}/activate`,
      json: {},
      signal,
    });
  }

  compare(id: string, versions: { readonly from: number; readonly to: number }): Promise<AgentComparison> {
    return this.transport.json({ path: `${pathOf(id)}/compare`, query: versions });
  }

  /** What the next run of a thread begins with, and why. */
  ofThread(threadId: string, { signal }: Options = {}): Promise<ThreadAgent> {
    return this.transport.json({ path: `/v1/threads/${encodeURIComponent(threadId)}/agent`, signal });
  }
}

const pathOf = (id: string): string => `/v1/agents/${encodeURIComponent(id)}`;
