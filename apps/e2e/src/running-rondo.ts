import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Infrastructure, startInfrastructure } from '../../../deploy/local/infrastructure.mjs';
import { migrate } from '../../../deploy/local/migrate.mjs';
import { repoRoot } from '../../../deploy/local/repo-root.mjs';
import { type ServicesRequest, type Services, startServices } from '../../../deploy/local/services.mjs';
import { RondoClient } from './rondo-client';

const key = 'rondo_end_to_end';

/** Short leases, so that a test need not wait fifteen seconds to see a takeover. */
const quick = { LEASE_MS: '3000', HEARTBEAT_MS: '800', REAP_MS: '500', LOG_LEVEL: 'info' };

/** A whole installation of its own: servers, services, data. Nothing is shared with one that may be running. */
export class RunningRondo {
  private constructor(
    readonly directory: string,
    readonly infrastructure: Infrastructure,
    readonly services: Services,
  ) {}

  static async start({
    instances,
    settings = {},
  }: Pick<ServicesRequest, 'instances' | 'settings'> = {}): Promise<RunningRondo> {
    const directory = mkdtempSync('/var/tmp/rondo-e2e-');
    const { PATH, HOME, BWRAP_PATH } = process.env;
    const env = { PATH, HOME, BWRAP_PATH };
    const infrastructure = await startInfrastructure({ dataDir: directory, packagesOf: join(repoRoot, '.data'), env });
    const { DATABASE_URL } = infrastructure.env;
    if (!DATABASE_URL) throw new Error('the servers have no Postgres');
    await migrate({ url: DATABASE_URL, directory: join(repoRoot, 'prisma/migrations') });
    const services = await startServices({
      dataDir: directory,
      infrastructure: infrastructure.env,
      adminKey: key,
      env,
      settings: { ...settings, 'agent-worker': { ...quick, ...settings['agent-worker'] } },
      ...(instances && { instances }),
    });
    return new RunningRondo(directory, infrastructure, services);
  }

  /** A client of one of the gateways. */
  client(gateway = 'gateway'): RondoClient {
    return new RondoClient(this.services.get(gateway).url, key);
  }

  /** What the demo model saw. */
  async modelRequests(): Promise<{ model: string; closed_by_client_at: string | null; tokens_sent: number }[]> {
    const response = await fetch(`${this.services.get('demo-model').url}/requests`);
    return ((await response.json()) as { data: never[] }).data;
  }

  /** Requests that a strict provider would have refused (I6). */
  async violations(): Promise<unknown[]> {
    const response = await fetch(`${this.services.get('demo-model').url}/violations`);
    return ((await response.json()) as { data: unknown[] }).data;
  }

  async stop(): Promise<void> {
    await this.services.stop();
    await this.infrastructure.stop();
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** An input that makes `demo/scripted` play these turns. `about` keeps conversations apart. */
export const scripted = (
  about: string,
  turns: readonly Record<string, unknown>[],
): { model: string; input: string } => ({
  model: 'demo/scripted',
  input: `${about}\n\`\`\`demo-script\n${JSON.stringify(turns)}\n\`\`\``,
});

export const call = (name: string, args: Record<string, unknown>) => ({ name, arguments: args });

export const command = (line: string, timeout = 60) =>
  call('execute_command', { command: line, blocking: true, timeout });
