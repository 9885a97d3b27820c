import type { Agent, AgentChange, AgentComparison, AgentVersion, NewAgent } from './generated/api.ts';
import { itemsOf } from './pages.ts';
import type { Options } from './runs.ts';
import type { Transport } from './transport.ts';

export interface ListAgents {
  /** A part of the name. */
  readonly search?: string;
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

  /** Newest first. */
  list(query: ListAgents = {}): AsyncGenerator<Agent, void> {
    return itemsOf(this.transport, '/v1/agents', { ...query });
  }

  /** Another definition becomes a new version. Refused if `if_version` is no longer the active one. */
  update(id: string, change: AgentChange, { signal }: Options = {}): Promise<Agent> {
    return this.transport.json({ method: 'PATCH', path: pathOf(id), json: change, signal });
  }

  async delete(id: string, { signal }: Options = {}): Promise<void> {
    await this.transport.send({ method: 'DELETE', path: pathOf(id), signal });
  }

  /** Newest first. */
  versions(id: string): AsyncGenerator<AgentVersion, void> {
    return itemsOf(this.transport, `${pathOf(id)}/versions`);
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
}

const pathOf = (id: string): string => `/v1/agents/${encodeURIComponent(id)}`;
