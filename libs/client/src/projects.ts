import type { NewProject, Project, ProjectChange } from './generated/api.ts';
import { itemsOf } from './pages.ts';
import type { Options } from './runs.ts';
import type { Transport } from './transport.ts';

/** The projects of an account. */
export class Projects {
  constructor(private readonly transport: Transport) {}

  create(project: NewProject = {}, { signal }: Options = {}): Promise<Project> {
    return this.transport.json({ method: 'POST', path: '/v1/projects', json: project, signal });
  }

  get(id: string, { signal }: Options = {}): Promise<Project> {
    return this.transport.json({ path: pathOf(id), signal });
  }

  /** Newest first. */
  list(query: { readonly limit?: number } = {}): AsyncGenerator<Project, void> {
    return itemsOf(this.transport, '/v1/projects', query);
  }

  update(id: string, change: ProjectChange, { signal }: Options = {}): Promise<Project> {
    return this.transport.json({ method: 'PATCH', path: pathOf(id), json: change, signal });
  }

  /** With its threads, runs and workspaces. */
  async delete(id: string, { signal }: Options = {}): Promise<void> {
    await this.transport.send({ method: 'DELETE', path: pathOf(id), signal });
  }
}

const pathOf = (id: string): string => `/v1/projects/${encodeURIComponent(id)}`;
