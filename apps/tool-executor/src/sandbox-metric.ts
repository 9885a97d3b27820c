import { Gauge, type Registry } from 'prom-client';
import type { Resources } from './resources';

/** Whether tools can run here. An executor without a sandbox is alive and ready, so this is where an alarm looks. */
export class SandboxMetric {
  constructor(registry: Registry, resources: Pick<Resources, 'sandboxProblem'>) {
    new Gauge({
      name: 'rondo_sandbox_usable',
      help: 'Whether sandboxes can be booted here (1) or tools are refused (0)',
      registers: [registry],
      async collect() {
        this.set((await resources.sandboxProblem()) === undefined ? 1 : 0);
      },
    });
  }
}
