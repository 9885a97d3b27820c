import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { type DeploymentRequest, RunningRondo } from '@rondo/test-deployment';
import { AskingServer } from '../effects/asking-server';
import { CountingEffectServer } from '../effects/counting-effect-server';
import { PatientClient } from './patient-client';
import { WebhookReceiver } from './webhook-receiver';
import { StallingProxy } from './stalling-proxy';

/** What an experiment has done so far, for progress reports. */
export interface Progress {
  started: number;
  ended: number;
  faults: number;
}

export const noProgress = (): Progress => ({ started: 0, ended: 0, faults: 0 });

/** Enough instances that one of each service can be down, except the summarizer. */
const allServices = [
  'demo-model',
  'agent-worker',
  'agent-worker',
  'agent-worker',
  'tool-executor',
  'tool-executor',
  'summarizer',
  'gateway',
  'gateway',
] as const;

export interface Scale {
  readonly name: 'full' | 'small';
  readonly leases: 'production' | 'short';
  /** The time that runs have to end after the last fault. */
  readonly quietMs: number;
  /** For how long faults are injected, in an experiment whose size is a time. */
  readonly minutes?: number;
  /** The commit that an upgrade begins with; the last release when absent. */
  readonly from?: string;
}

export interface TestBedRequest extends Pick<
  DeploymentRequest,
  'instances' | 'settings' | 'leases' | 'launch' | 'servers'
> {
  /** Connects the services to the servers through proxies that can stall. */
  readonly behindProxies?: boolean;
}

/** What the deployment reaches, and what it is reached through. */
interface Outside {
  readonly effects: CountingEffectServer;
  readonly asking: AskingServer;
  readonly receiver: WebhookReceiver;
  readonly proxies: ServerProxies;
}

/** A deployment with an effect server, and a log of the faults of one experiment. */
export class TestBed {
  readonly faults = new FaultLog();

  readonly client: PatientClient;

  private constructor(
    readonly rondo: RunningRondo,
    readonly progress: Progress,
    private readonly outside: Outside,
  ) {
    const gateways = rondo.services.all.filter(({ name }) => isInstance(name, 'gateway'));
    this.client = new PatientClient(
      gateways.map(({ url }) => url),
      rondo.client().key,
    );
  }

  get effects(): CountingEffectServer {
    return this.outside.effects;
  }

  /** An MCP server that asks people. */
  get asking(): AskingServer {
    return this.outside.asking;
  }

  get receiver(): WebhookReceiver {
    return this.outside.receiver;
  }

  get proxies(): ServerProxies {
    return this.outside.proxies;
  }

  static async open(progress: Progress, { behindProxies = false, ...request }: TestBedRequest): Promise<TestBed> {
    const effects = await CountingEffectServer.start();
    const asking = await AskingServer.start(effects.ledger);
    const receiver = await WebhookReceiver.start();
    const proxies = new ServerProxies();
    try {
      const rondo = await RunningRondo.start({
        instances: allServices,
        ...request,
        ...(behindProxies && { through: (servers) => proxies.startAll(servers) }),
        settings: {
          ...request.settings,
          gateway: {
            LOG_LEVEL: 'warn',
            RATE_LIMIT_PER_SECOND: '5000',
            SCHEDULE_LEAST_INTERVAL_S: '1',
            MAX_ACTIVE_RUNS_PER_ACCOUNT: '1000000',
            ACCOUNT_WORKSPACES: '1000000',
            HANDSHAKES_PER_SECOND: '5000',
            WEBHOOK_INTERNAL_HOSTS: receiver.host,
            ...request.settings?.gateway,
          },
          'agent-worker': { IDEMPOTENT_HOSTS: effects.host, ...request.settings?.['agent-worker'] },
          'tool-executor': {
            SANDBOX_INTERNAL_HOSTS: `${effects.host},${asking.host}`,
            ...request.settings?.['tool-executor'],
          },
        },
      });
      return new TestBed(rondo, progress, { effects, asking, receiver, proxies });
    } catch (error) {
      await proxies.close();
      await receiver.stop();
      await asking.stop();
      await effects.stop();
      throw error;
    }
  }

  /** The same deployment for another experiment, which sees only its own faults. Resolves when all services run again. */
  async renew(progress: Progress): Promise<TestBed> {
    await Promise.all(this.rondo.services.all.map((service) => service.start()));
    return new TestBed(this.rondo, progress, this.outside);
  }

  instances(service: string) {
    return this.rondo.services.all.filter(({ name }) => isInstance(name, service));
  }

  /** Copies the services' log files. */
  copyLogs(directory: string): void {
    cpSync(join(this.rondo.directory, 'logs'), directory, { recursive: true });
  }

  /** May be called twice. */
  async stop(): Promise<void> {
    await this.rondo.stop();
    await this.proxies.close();
    await this.receiver.stop();
    await this.asking.stop();
    await this.effects.stop();
  }
}

interface InjectedFault {
  readonly fault: string;
  /** The instance that it hit: `agent-worker-2`, `postgres`. */
  readonly target: string;
  readonly at: number;
}

/** The faults injected into the deployment, with their times. */
class FaultLog {
  readonly faults: InjectedFault[] = [];

  note(fault: string, target: string): void {
    this.faults.push({ fault, target, at: Date.now() });
  }

  /** The times of this fault on instances of this service. */
  times(fault: string, service: string): number[] {
    return this.faults
      .filter((entry) => entry.fault === fault && isInstance(entry.target, service))
      .map(({ at }) => at);
  }

  /** The last fault before this moment, in words. */
  before(moment: number): string {
    const last = this.faults.findLast(({ at }) => at <= moment);
    return last ? `${moment - last.at} ms after ${last.fault} ${last.target}` : 'before any fault';
  }

  /** The number of faults by kind and service. */
  counts(): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const { fault, target } of this.faults) {
      const what = `${fault} ${toService(target)}`;
      counts[what] = (counts[what] ?? 0) + 1;
    }
    return counts;
  }
}

/** `agent-worker-2` is an instance of `agent-worker`. */
const isInstance = (name: string, service: string): boolean => toService(name) === service;

const toService = (name: string): string => name.replace(/-\d+$/, '');

type Servers = Parameters<NonNullable<DeploymentRequest['through']>>[0];

/** A stalling proxy to each server that the services use. */
class ServerProxies {
  private readonly proxies = new Map<string, StallingProxy>();

  /** Resolves with the proxies' URLs, for the services to use instead of the servers' own. */
  async startAll(servers: Servers): Promise<Servers> {
    for (const [variable, url] of Object.entries(servers)) {
      if (typeof url === 'string' && url.includes('://')) this.proxies.set(variable, await StallingProxy.start(url));
    }
    return { ...servers, ...Object.fromEntries([...this.proxies].map(([variable, { url }]) => [variable, url])) };
  }

  to(variable: keyof Servers): StallingProxy {
    const proxy = this.proxies.get(variable);
    if (!proxy) throw new Error(`there is no proxy for ${variable}`);
    return proxy;
  }

  async close(): Promise<void> {
    for (const proxy of this.proxies.values()) await proxy.close();
  }
}
