import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RondoSystem, RondoRequest } from '../rondo-system';
import { type Cost, largestCosts, packageCosts } from './cpu-profile';

const services = ['gateway', 'agent-worker', 'tool-executor'] as const;
const writtenWithinMs = 30_000;

/** CPU profiles of the services, from `begin` to `end`. */
export class Profiling {
  constructor(private readonly directory: string) {
    mkdirSync(directory, { recursive: true });
    for (const service of services) rmSync(this.fileOf(service), { force: true });
  }

  /** Settings that the deployment must be started with. */
  get needs(): Pick<RondoRequest, 'everywhere'> {
    const loaded = JSON.stringify(join(__dirname, '../inside/profile.js'));
    return { everywhere: { NODE_OPTIONS: `--require ${loaded}`, BENCH_PROFILE_DIRECTORY: this.directory } };
  }

  begin(rondo: RondoSystem): void {
    rondo.signalServices('SIGUSR2');
  }

  /** Resolves with a readable report. */
  async end(rondo: RondoSystem): Promise<string> {
    rondo.signalServices('SIGUSR2');
    const deadline = performance.now() + writtenWithinMs;
    while (services.some((service) => !existsSync(this.fileOf(service)))) {
      if (performance.now() > deadline) throw new Error(`not every service wrote its profile to ${this.directory}`);
      await sleep(100);
    }
    return services.map((service) => this.describe(service)).join('\n\n');
  }

  private describe(service: string): string {
    const file = this.fileOf(service);
    const lists = [`${service}: ${file}`, 'functions', ...largestCosts(file, 10).map(lineOf)];
    return [...lists, 'packages, with what they call in Node', ...packageCosts(file, 10).map(lineOf)].join('\n');
  }

  private fileOf(service: string): string {
    return join(this.directory, `${service}.cpuprofile`);
  }
}

const lineOf = ({ where, share }: Cost): string => `${(share * 100).toFixed(1).padStart(6)} %  ${where}`;
