import type { DeploymentRequest } from '@rondo/test-deployment';
import { StallingWire } from './stalling-wire';

type Servers = Parameters<NonNullable<DeploymentRequest['through']>>[0];

/** A wire to each server that the services stand on. */
export class Wires {
  private readonly wires = new Map<string, StallingWire>();

  /** What the services are told instead of the servers' own URLs. */
  async layAll(servers: Servers): Promise<Servers> {
    for (const [variable, url] of Object.entries(servers)) {
      if (typeof url === 'string' && url.includes('://')) this.wires.set(variable, await StallingWire.lay(url));
    }
    return { ...servers, ...Object.fromEntries([...this.wires].map(([variable, { url }]) => [variable, url])) };
  }

  to(variable: keyof Servers): StallingWire {
    const wire = this.wires.get(variable);
    if (!wire) throw new Error(`no wire was laid for ${variable}`);
    return wire;
  }

  async cut(): Promise<void> {
    for (const wire of this.wires.values()) await wire.cut();
  }
}
