import { Gauge, type Registry } from 'prom-client';
import type { Resources } from '../resources';

/** Whether tools can run here, and how many sandboxes more. An executor without a sandbox is alive and ready, so this is where an alarm looks. */
export class SandboxMetric {
  constructor(registry: Registry, resources: Pick<Resources, 'sandboxProblem' | 'places'>) {
    new Gauge({
      name: 'rondo_sandbox_usable',
      help: 'Whether sandboxes can be booted here (1) or tools are refused (0)',
      registers: [registry],
      async collect() {
        this.set((await resources.sandboxProblem()) === undefined ? 1 : 0);
      },
    });
    const { places } = resources;
    new Gauge({ name: 'rondo_sandboxes_max', help: 'Sandboxes that may be awake', registers: [registry] }).set(
      places.max,
    );
    new Gauge({
      name: 'rondo_sandboxes_awake',
      help: 'Sandboxes that are awake now',
      registers: [registry],
      collect() {
        this.set(places.awake);
      },
    });
    new Gauge({
      name: 'rondo_sandbox_places_waiting',
      help: 'Tool calls that wait for a sandbox to be put to sleep',
      registers: [registry],
      collect() {
        this.set(places.waiting);
      },
    });
  }
}
