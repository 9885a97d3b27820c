import { join } from 'node:path';
import { BareContender } from './bare/bare-contender';
import { Child } from './machine/child';
import { Cores } from './machine/cores';
import type { ModelProcess } from './measures/measure';
import { RondoContender, type RondoRequest } from './rondo-contender';

export type Owns = <Thing extends { stop(): Promise<void> }>(thing: Thing) => Thing;

/** Starts what is measured on one core and what drives it on another. `owns` hears of all that must be stopped. */
export class Bench {
  readonly cores = Cores.find();

  constructor(private readonly owns: Owns) {}

  async startModel(): Promise<ModelProcess> {
    return this.owns(await Child.start(join(__dirname, 'model/bench-model.js')));
  }

  async startBare(modelUrl: string): Promise<BareContender> {
    const file = join(__dirname, 'bare/bare-server.js');
    return this.owns(await this.onSystemCore(() => BareContender.start(file, modelUrl)));
  }

  async startRondo(request: RondoRequest): Promise<RondoContender> {
    const started = this.onSystemCore(() => RondoContender.start(request));
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
