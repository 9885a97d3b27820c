import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { type DeploymentRequest, RunningRondo } from '@rondo/test-deployment';
import type { Tally } from '../tally';
import { EffectServer } from '../effects/effect-server';
import { Wires } from '../faults/wires';
import { FaultJournal, isInstance } from './fault-journal';
import { PatientClient } from './patient-client';

/** Three workers, two gateways, two executors: enough that one of each can be missing. */
const houseful = [
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
  /** How long runs may take to end once nothing disturbs them any more. */
  readonly quietMs: number;
}

export interface StageRequest extends Pick<DeploymentRequest, 'instances' | 'settings' | 'leases'> {
  /** The services reach the servers over wires that can stall. */
  readonly behindWires?: boolean;
}

/** Everything that an experiment plays with, started for it alone. */
export class Stage {
  readonly faults = new FaultJournal();

  readonly client: PatientClient;

  private constructor(
    readonly rondo: RunningRondo,
    readonly tally: Tally,
    private readonly outside: { effects: EffectServer; wires: Wires },
  ) {
    const gateways = rondo.services.all.filter(({ name }) => isInstance(name, 'gateway'));
    this.client = new PatientClient(gateways.map(({ name }) => rondo.client(name)));
  }

  get effects(): EffectServer {
    return this.outside.effects;
  }

  get wires(): Wires {
    return this.outside.wires;
  }

  static async open(tally: Tally, { behindWires = false, ...request }: StageRequest): Promise<Stage> {
    const effects = await EffectServer.start();
    const wires = new Wires();
    try {
      const rondo = await RunningRondo.start({
        instances: houseful,
        ...request,
        ...(behindWires && { through: (servers) => wires.layAll(servers) }),
        settings: {
          gateway: { LOG_LEVEL: 'warn', RATE_LIMIT_PER_SECOND: '5000', HANDSHAKES_PER_SECOND: '5000' },
          ...request.settings,
          'agent-worker': { IDEMPOTENT_HOSTS: effects.host, ...request.settings?.['agent-worker'] },
          'tool-executor': { SANDBOX_INTERNAL_HOSTS: effects.host, ...request.settings?.['tool-executor'] },
        },
      });
      return new Stage(rondo, tally, { effects, wires });
    } catch (error) {
      await wires.cut();
      await effects.stop();
      throw error;
    }
  }

  /** The instances of a service. */
  instances(service: string) {
    return this.rondo.services.all.filter(({ name }) => isInstance(name, service));
  }

  /** What the processes said. */
  copyLogs(directory: string): void {
    cpSync(join(this.rondo.directory, 'logs'), directory, { recursive: true });
  }

  /** May be called twice. */
  async stop(): Promise<void> {
    await this.rondo.stop();
    await this.wires.cut();
    await this.effects.stop();
  }
}
