import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type {
  CreateSandbox,
  ListSandboxesResponse,
  Sandbox,
  SandboxState,
  SignedPortPreviewUrl,
} from '@daytona/api-client';
import { TestMachine } from './machine';

interface Kept {
  dto: Sandbox;
  readonly machine: TestMachine;
}

/** The sandboxes of the test server. Changes of state take a moment, as at Daytona. */
export class ControlPlane {
  private readonly kept = new Map<string, Kept>();
  /** The requests to create one, as they arrived. */
  readonly created: CreateSandbox[] = [];
  startMs = 20;
  /** The state in which new sandboxes end. */
  newState: SandboxState = 'started';

  constructor(
    private readonly root: string,
    private readonly toolboxUrl: string,
  ) {}

  create(request: CreateSandbox): Sandbox {
    this.created.push(request);
    const id = randomUUID();
    const dto: Sandbox = {
      ...{
        id,
        organizationId: 'org',
        name: request.name ?? id,
        user: request.user ?? 'daytona',
        env: request.env ?? {},
      },
      ...{ labels: request.labels ?? {}, public: request.public ?? false, target: request.target ?? 'us' },
      ...{ networkBlockAll: request.networkBlockAll ?? false, cpu: request.cpu ?? 1, gpu: 0 },
      ...{ memory: request.memory ?? 1, disk: request.disk ?? 3, toolboxProxyUrl: this.toolboxUrl, state: 'creating' },
      ...(request.snapshot !== undefined && { snapshot: request.snapshot }),
      ...{ createdAt: new Date().toISOString(), recoverable: false },
    };
    const kept = { dto, machine: new TestMachine(join(this.root, id)) };
    this.kept.set(id, kept);
    this.settle(kept, this.newState);
    return dto;
  }

  get(id: string): Sandbox | undefined {
    return this.kept.get(id)?.dto;
  }

  all(): Sandbox[] {
    return [...this.kept.values()].map(({ dto }) => dto);
  }

  /** Pages of two, so that every client has to follow the cursor. */
  list(labels: Record<string, string>, cursor: string | undefined): ListSandboxesResponse {
    const wanted = Object.entries(labels);
    const found = this.all().filter((dto) => wanted.every(([name, value]) => dto.labels[name] === value));
    const from = Number(cursor ?? 0);
    return { items: found.slice(from, from + 2), nextCursor: from + 2 < found.length ? String(from + 2) : null };
  }

  start(id: string): Sandbox | undefined {
    return this.change(id, 'starting', 'started');
  }

  stop(id: string): Sandbox | undefined {
    return this.change(id, 'stopping', 'stopped');
  }

  /** Undefined where there is none; Daytona archives nothing that runs. */
  archive(id: string): Sandbox | 'running' | undefined {
    const state = this.kept.get(id)?.dto.state;
    if (state !== undefined && state !== 'stopped') return 'running';
    return this.change(id, 'archiving', 'archived');
  }

  /** As Daytona itself does after a while. */
  async becomes(id: string, state: SandboxState): Promise<void> {
    const kept = this.kept.get(id);
    if (!kept) return;
    if (state !== 'started') await kept.machine.stop();
    kept.dto = { ...kept.dto, state };
  }

  delete(id: string): Sandbox | undefined {
    const kept = this.kept.get(id);
    if (!kept) return undefined;
    kept.dto = { ...kept.dto, state: 'destroying' };
    void kept.machine.delete().then(() => this.kept.delete(id));
    return kept.dto;
  }

  signPreview(id: string, port: number, expiresInSeconds: string | null): SignedPortPreviewUrl | undefined {
    if (!this.kept.has(id)) return undefined;
    const token = `for${expiresInSeconds}s`;
    return { sandboxId: id, port, token, url: `https://${port}-${token}.preview.example` };
  }

  /** Of a started sandbox. */
  findMachine(id: string): TestMachine | undefined {
    const kept = this.kept.get(id);
    return kept?.dto.state === 'started' ? kept.machine : undefined;
  }

  async close(): Promise<void> {
    await Promise.all([...this.kept.values()].map(({ machine }) => machine.delete()));
    this.kept.clear();
  }

  private change(id: string, meanwhile: SandboxState, state: SandboxState): Sandbox | undefined {
    const kept = this.kept.get(id);
    if (!kept) return undefined;
    kept.dto = { ...kept.dto, state: meanwhile };
    this.settle(kept, state);
    return kept.dto;
  }

  private settle(kept: Kept, state: SandboxState): void {
    setTimeout(() => {
      if (kept.dto.state === 'destroying') return;
      const done = () => (kept.dto = { ...kept.dto, state });
      if (state !== 'started') return void kept.machine.stop().then(done);
      kept.machine.start();
      done();
    }, this.startMs);
  }
}
