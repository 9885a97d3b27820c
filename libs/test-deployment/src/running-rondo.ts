import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Infrastructure,
  type InfrastructureEnvironment,
  startInfrastructure,
} from '../../../deploy/local/servers/infrastructure.mjs';
import { prepareDatabase } from '../../../deploy/local/servers/prepare-database.mjs';
import { repoRoot } from '../../../deploy/local/repo-root.mjs';
import { type Services, type ServicesRequest, startServices } from '../../../deploy/local/services/services.mjs';
import { inherited, isDurable, preparedData } from './config';
import { RondoClient } from './rondo-client';

const key = 'rondo_test_deployment_key';

/** A service that a test kills again and again is not broken, so it need not rest for longer and longer. */
const restartDelaysMs = [50, 250];

/** With these, another worker claims the runs of a frozen one after three seconds instead of fifteen. */
const shortLeases = { LEASE_MS: '3000', HEARTBEAT_MS: '800', REAP_MS: '500' };

/** A model server that is away is given up after 0.3 s instead of 7. */
const shortPauses = { MODEL_ATTEMPTS: '3', MODEL_RETRY_DELAY_MS: '100' };

export interface DeploymentRequest extends Pick<ServicesRequest, 'instances' | 'settings' | 'launch' | 'host'> {
  /** Lease times as in production, or short. */
  readonly leases?: 'short' | 'production';
  /** Replaces the servers' URLs that services get, for example with those of proxies. */
  readonly through?: (servers: InfrastructureEnvironment) => Promise<InfrastructureEnvironment>;
  /** What was saved of another deployment. */
  readonly restored?: SavedDeployment;
  /** Starts the servers, or some of them, with the owner's passwords of this data directory. */
  readonly servers?: (directory: string) => Promise<StartedServers>;
}

/** Servers that the deployment did not start itself, and stops at the end. */
export interface StartedServers {
  readonly env: InfrastructureEnvironment;
  stop(): Promise<void>;
}

export interface SavedDeployment {
  /** Brings files into the directory of the new deployment, before its servers start. */
  readonly files: (directory: string) => void;
  /** Fills the database before it is migrated. It does not exist yet. */
  readonly database: (url: string) => Promise<void>;
}

/** A request as the demo model received it. */
export interface ModelRequest {
  readonly model: string;
  /** The first 16 KiB. */
  readonly body: string;
  readonly arrived_at: string;
  readonly ended_at: string | null;
  readonly closed_by_client_at: string | null;
  readonly tokens_sent: number;
}

/** A deployment started for a test: servers, services and data of its own, shared with no other deployment. */
export class RunningRondo {
  private constructor(
    readonly directory: string,
    readonly services: Services,
    private readonly servers: { readonly infrastructure: Infrastructure; readonly started: StartedServers },
  ) {}

  get infrastructure(): Infrastructure {
    return this.servers.infrastructure;
  }

  /** Resolves when everything is ready; when it rejects, nothing is left. */
  static async start(request: DeploymentRequest = {}): Promise<RunningRondo> {
    const directory = mkdtempSync('/var/tmp/rondo-test-');
    request.restored?.files(directory);
    const started = (await request.servers?.(directory)) ?? { env: {}, stop: () => Promise.resolve() };
    let infrastructure: Infrastructure | undefined;
    try {
      infrastructure = await startInfrastructure({
        dataDir: directory,
        packagesDirectory: join(repoRoot, '.data'),
        env: { ...inherited, ...started.env },
        isDurable,
        ...(request.host && { host: request.host }),
        ...(preparedData && !request.restored && !request.servers && { databaseFrom: preparedData }),
      });
      const services = await startAll(directory, infrastructure.env, request);
      return new RunningRondo(directory, services, { infrastructure, started });
    } catch (error) {
      await infrastructure?.stop();
      await started.stop();
      rmSync(directory, { recursive: true, force: true });
      throw error;
    }
  }

  /** A client of one of the gateways. */
  client(gateway = 'gateway'): RondoClient {
    return new RondoClient(this.services.get(gateway).url, key);
  }

  /** As its owner. */
  get databaseUrl(): string {
    const { DATABASE_URL } = this.infrastructure.env;
    if (!DATABASE_URL) throw new Error('the servers have no Postgres');
    return DATABASE_URL;
  }

  /** The newest `limit` requests that the demo model received, the oldest first, whichever run sent them. */
  modelRequests(limit?: number): Promise<ModelRequest[]> {
    return this.queryModel(`/requests${limit === undefined ? '' : `?limit=${limit}`}`);
  }

  /** Those that have this text, by which a spec tells its own from those of others. */
  async findModelRequests(text: string): Promise<ModelRequest[]> {
    return (await this.modelRequests()).filter(({ body }) => body.includes(text));
  }

  /** Requests that a strict provider would have refused (I6). */
  violations(): Promise<unknown[]> {
    return this.queryModel('/violations');
  }

  async stop(): Promise<void> {
    await this.services.stop();
    await this.infrastructure.stop();
    await this.servers.started.stop();
    rmSync(this.directory, { recursive: true, force: true });
  }

  private async queryModel<Row>(path: string): Promise<Row[]> {
    const response = await fetch(`${this.services.get('demo-model').url}${path}`);
    return ((await response.json()) as { data: Row[] }).data; // the demo model has specs of its own
  }
}

async function startAll(
  directory: string,
  servers: InfrastructureEnvironment,
  {
    instances,
    launch,
    host,
    settings = {},
    leases = 'short',
    through = (urls) => Promise.resolve(urls),
    restored,
  }: DeploymentRequest,
): Promise<Services> {
  const { DATABASE_URL } = servers;
  if (!DATABASE_URL) throw new Error('the servers have no Postgres');
  await restored?.database(DATABASE_URL);
  await prepareDatabase({ url: DATABASE_URL, dataDir: directory });
  const timing = { ...shortPauses, ...(leases === 'short' && shortLeases) };
  return startServices({
    dataDir: directory,
    infrastructure: await through(servers),
    adminKey: key,
    env: inherited,
    restartDelaysMs,
    settings: {
      ...settings,
      'agent-worker': { ...timing, ...settings['agent-worker'] },
      summarizer: { ...timing, ...settings.summarizer },
    },
    ...(instances && { instances }),
    ...(launch && { launch }),
    ...(host && { host }),
  });
}
