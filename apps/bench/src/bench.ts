import { join } from 'node:path';
import { BareSystem } from './bare/bare-system';
import { Child } from './machine/child';
import { Cores } from './machine/machine';
import type { ModelProcess } from './measures/measure';
import { RondoSystem, type RondoRequest } from './rondo-system';

export type Owns = <Thing extends { stop(): Promise<void> }>(thing: Thing) => Thing;

/** Starts the measured systems on one core and the model on another. Each started process is passed to `owns`, which stops it. */
export class Bench {
  readonly cores = Cores.find();

  constructor(private readonly owns: Owns) {}

  async startModel(): Promise<ModelProcess> {
    return this.owns(await Child.start(join(__dirname, 'model/bench-model.js')));
  }

  /** The variables of services that trace this share of the runs. */
  async startTracing(share: number): Promise<Readonly<Record<string, string>>> {
    const collector = this.owns(await Child.start(join(__dirname, 'collector/span-collector.js')));
    return {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
      OTEL_TRACES_SAMPLER_ARG: String(share),
    };
  }

  async startBare(modelUrl: string): Promise<BareSystem> {
    const file = join(__dirname, 'bare/bare-server.js');
    return this.owns(await this.onSystemCore(() => BareSystem.start(file, modelUrl)));
  }

  async startRondo(request: RondoRequest): Promise<RondoSystem> {
    const started = this.onSystemCore(() => RondoSystem.start(request));
    return this.owns(
      await started.catch((error: unknown) => {
        throw new Error(`Rondo did not start: ${String(error)}`, { cause: error }); // it starts silently
      }),
    );
  }

  onSystemCore<T>(work: () => Promise<T>): Promise<T> {
    return this.cores ? this.cores.onSystemCore(work) : work();
  }
}
