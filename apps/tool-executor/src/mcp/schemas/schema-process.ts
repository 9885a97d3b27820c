import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { z } from 'zod';
import { nodeOptions } from '../../parsing/node-options';
import { watchMemory } from '../../parsing/watch-memory';

/** A schema, and the value that it is to accept if there is one. */
export interface SchemaCheck {
  readonly schema: Readonly<Record<string, unknown>>;
  readonly value?: { readonly given: unknown };
}

const schemaOutcome = z.object({
  /** Why the schema cannot be used. */
  schema: z.string().optional(),
  /** Where the value is not what the schema demands, as JSON pointers. */
  value: z.array(z.object({ at: z.string(), problem: z.string() })).optional(),
});
export type SchemaOutcome = z.infer<typeof schemaOutcome>;

const memoryBytes = 256 * 1024 * 1024;
const program = join(__dirname, '../../parsing/in-child/schemas.cjs');

/** One process that checks schemas of servers. It is ended by what costs too much time or memory, and not used again. */
export class SchemaProcess {
  private readonly lines: AsyncIterator<string>;

  private constructor(
    private readonly child: ChildProcess,
    private readonly input: Writable,
    output: Readable,
  ) {
    this.lines = createInterface({ input: output })[Symbol.asyncIterator]();
    child.on('error', () => undefined); // its output ends, which says so
    input.on('error', () => undefined);
  }

  static async start(): Promise<SchemaProcess> {
    const child = spawn(process.execPath, [...nodeOptions({ memoryBytes, generatesCode: true }), program], {
      ...{ env: {}, cwd: '/', stdio: ['pipe', 'pipe', 'ignore'] },
    });
    const started = new SchemaProcess(child, child.stdin, child.stdout);
    await started.lines.next(); // it is ready
    return started;
  }

  get isAlive(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null && !this.child.killed;
  }

  /** The outcomes of the first checks, in order: all, unless one takes too much time or memory. */
  async readOutcomes(checks: readonly SchemaCheck[], timeoutMs: number): Promise<SchemaOutcome[]> {
    const kill = () => void this.child.kill('SIGKILL');
    const timer = setTimeout(kill, timeoutMs);
    const watch = watchMemory(this.child.pid, memoryBytes, kill);
    const outcomes: SchemaOutcome[] = [];
    try {
      this.input.write(`${JSON.stringify(checks)}\n`);
      while (outcomes.length < checks.length) {
        const line = await this.lines.next();
        if (line.done === true) break;
        outcomes.push(schemaOutcome.parse(JSON.parse(line.value)));
      }
      return outcomes;
    } finally {
      clearTimeout(timer);
      clearInterval(watch);
    }
  }

  async end(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    this.child.kill('SIGKILL');
    await once(this.child, 'exit');
  }
}
