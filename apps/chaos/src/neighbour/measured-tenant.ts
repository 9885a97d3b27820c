import { setTimeout as delay } from 'node:timers/promises';
import { type Spread, findSpread } from '../scorecard/spread';
import type { TestBed } from '../test-bed/test-bed';
import { atPace } from '../test-bed/pace';
import { type Tenant, createTenant, shortRun } from './tenant';

/** What the tenant waits for, in milliseconds. */
export interface Waits {
  readonly run: Spread | undefined;
  readonly file: Spread | undefined;
  readonly socket: Spread | undefined;
}

const everyMs = { run: 1_000, file: 300, socket: 1_000 };

/** An ordinary tenant: starts a run of two commands each second, reads a file of its workspace, and opens sockets. */
export class MeasuredTenant {
  readonly failures: string[] = [];
  private readonly waits = { run: [] as number[], file: [] as number[], socket: [] as number[] };

  private constructor(
    private readonly tenant: Tenant,
    private readonly sandbox: string,
  ) {}

  static async start(testBed: TestBed): Promise<MeasuredTenant> {
    const tenant = await createTenant(testBed, 'ordinary', '198.51.100.7');
    const { id, thread_id } = await tenant.client.createRun(shortRun('prepare', 'seq 1000 > numbers.txt'));
    const { status } = await tenant.client.waitForRun(id);
    if (status !== 'completed') throw new Error(`The tenant's first run is ${status}.`);
    const sandbox = await tenant.client.json<{ id: string }>('POST', `/threads/${thread_id}/sandbox`);
    return new MeasuredTenant(tenant, sandbox.id);
  }

  /** Works until the signal aborts, and says what it waited for meanwhile. */
  async workUntil(over: AbortSignal): Promise<Waits> {
    for (const times of Object.values(this.waits)) times.length = 0;
    await Promise.all([
      atPace({ over, everyMs: everyMs.run }, () => this.measure('run', () => this.run())),
      atPace({ over, everyMs: everyMs.file }, () => this.measure('file', () => this.readFile())),
      atPace({ over, everyMs: everyMs.socket }, () => this.measure('socket', () => this.openSocket())),
    ]);
    return {
      run: findSpread(this.waits.run),
      file: findSpread(this.waits.file),
      socket: findSpread(this.waits.socket),
    };
  }

  private async measure(what: keyof Waits, work: () => Promise<void>): Promise<void> {
    const since = performance.now();
    try {
      await work();
      this.waits[what].push(performance.now() - since);
    } catch (error) {
      this.failures.push(`${what}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  private async run(): Promise<void> {
    const { client } = this.tenant;
    const { id } = await client.createRun(shortRun('work', 'echo one', 'echo two'));
    const { status } = await client.waitForRun(id, 60_000);
    if (status !== 'completed') throw new Error(`${id} is ${status}`);
  }

  private async readFile(): Promise<void> {
    const path = `/sandboxes/${this.sandbox}/files/content?path=numbers.txt`;
    const { status, text } = await this.tenant.client.request('GET', path);
    if (status !== 200 || !text.endsWith('1000\n')) throw new Error(`${status} ${text.slice(0, 200)}`);
  }

  private async openSocket(): Promise<void> {
    const socket = this.tenant.client.connect();
    const late = new AbortController();
    try {
      await Promise.race([
        new Promise<void>((resolve, reject) => {
          socket.on('connect', resolve);
          socket.on('connect_error', reject);
        }),
        delay(30_000, undefined, { signal: late.signal }).then(() => Promise.reject(new Error('no connection'))),
      ]);
    } finally {
      late.abort();
      socket.close();
    }
  }
}
