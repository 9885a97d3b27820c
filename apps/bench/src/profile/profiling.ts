import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RondoRequest, RondoSystem } from '../rondo-system';
import { type Cost, largestCosts, packageCosts } from './cpu-profile';
import { describeTrace } from './trace-table';

const services = ['gateway', 'agent-worker', 'tool-executor'] as const;
const writtenWithinMs = 30_000;

/** What the services record about themselves. */
interface Recording {
  /** Loaded into each service before its own code. It begins to record on SIGUSR2, and writes its file on the second one. */
  readonly module: string;
  /** The variable that names the directory of the files. */
  readonly variable: string;
  readonly suffix: string;
  readonly describe: (files: readonly string[]) => string;
}

export const cpuProfiles: Recording = {
  module: join(__dirname, '../inside/profile.js'),
  variable: 'BENCH_PROFILE_DIRECTORY',
  suffix: '.cpuprofile',
  describe: (files) => files.map(describeProfile).join('\n\n'),
};

export const traces: Recording = {
  module: join(__dirname, '../inside/trace.js'),
  variable: 'BENCH_TRACE_DIRECTORY',
  suffix: '.trace.json',
  describe: (files) =>
    ['← socket run.create', '← POST /v1/runs'].map((begins) => describeTrace(files, begins)).join('\n\n'),
};

/** CPU profiles or traces of the services, from `begin` to `end`. */
export class Profiling {
  private readonly files: readonly string[];

  constructor(
    private readonly directory: string,
    private readonly recording: Recording,
  ) {
    this.files = services.map((service) => join(directory, service + recording.suffix));
    mkdirSync(directory, { recursive: true });
    for (const file of this.files) rmSync(file, { force: true });
  }

  /** Settings that the deployment must be started with. */
  get needs(): Pick<RondoRequest, 'everywhere' | 'preloaded'> {
    const { module, variable } = this.recording;
    return { preloaded: [module], everywhere: { [variable]: this.directory } };
  }

  begin(rondo: RondoSystem): void {
    rondo.signalServices('SIGUSR2');
  }

  /** Resolves with a readable report. */
  async end(rondo: RondoSystem): Promise<string> {
    rondo.signalServices('SIGUSR2');
    const deadline = performance.now() + writtenWithinMs;
    while (!this.files.every((file) => existsSync(file))) {
      if (performance.now() > deadline) throw new Error(`not every service wrote its file to ${this.directory}`);
      await sleep(100);
    }
    await sleep(500); // the last file may still be growing
    return this.recording.describe(this.files);
  }
}

function describeProfile(file: string): string {
  const lists = [file, 'functions', ...largestCosts(file, 10).map(toLine)];
  return [...lists, 'packages, with what they call in Node', ...packageCosts(file, 10).map(toLine)].join('\n');
}

const toLine = ({ where, share }: Cost): string => `${(share * 100).toFixed(1).padStart(6)} %  ${where}`;
