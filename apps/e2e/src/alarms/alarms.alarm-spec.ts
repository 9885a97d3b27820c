import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type RondoClient,
  type RunView,
  RunningRondo,
  command,
  scriptInput,
  smallContext,
} from '@rondo/test-deployment';
import { withClient } from '../../../../deploy/local/servers/postgres-client.mjs';
import { PrometheusServer } from '../../../../deploy/local/servers/prometheus.mjs';
import { alertRules, quickRules } from '../rule-file';

/** A program that runs another one until it is broken, and then only fails. */
class BreakableProgram {
  private readonly directory = mkdtempSync('/var/tmp/rondo-program-');
  readonly path = join(this.directory, 'program');

  /** Any user may run it. */
  wrap(program: string): void {
    writeFileSync(this.path, `#!/bin/sh\nexec '${program}' "$@"\n`, { mode: 0o755 });
  }

  break(): void {
    writeFileSync(this.path, '#!/bin/sh\necho broken >&2\nexit 1\n', { mode: 0o755 });
  }

  remove(): void {
    rmSync(this.directory, { recursive: true });
  }
}

/** A minute of `for` becomes two seconds. */
const factor = 30;
const firesWithinMs = 120_000;
const fired = new Set<string>();
const report: string[] = [];

let rondo: RunningRondo;
let client: RondoClient;
let prometheus: PrometheusServer;
const bwrap = new BreakableProgram();

beforeAll(async () => {
  rondo = await RunningRondo.start({
    instances: ['demo-model', 'tool-executor', 'agent-worker', 'agent-worker', 'summarizer', 'gateway'],
    settings: {
      'agent-worker': { RUN_CONCURRENCY: '2' },
      'tool-executor': {
        TOOL_CONCURRENCY: '2',
        TOOL_CONCURRENCY_PER_ACCOUNT: '2',
        TOOL_CONCURRENCY_PER_THREAD: '2',
        SANDBOX_MAX: '1',
        BWRAP_PATH: bwrap.path,
      },
    },
    through: (servers) => {
      bwrap.wrap(servers.BWRAP_PATH ?? 'bwrap');
      chmodSync(resolve(bwrap.path, '..'), 0o755);
      return Promise.resolve(servers);
    },
  });
  client = rondo.client();
  prometheus = await PrometheusServer.start({
    directory: rondo.directory,
    packagesDirectory: resolve(__dirname, '../../../../.data'),
    targets: rondo.services.all.filter(({ name }) => name !== 'demo-model'),
    rules: quickRules(factor),
  });
}, 300_000);

afterAll(async () => {
  await prometheus.stop();
  await rondo.stop();
  bwrap.remove();
  process.stdout.write(`${report.join('\n')}\n`);
});

/** Causes a fault and resolves once these alarms fire, none of which fires before. */
async function firesBy(fault: () => Promise<unknown>, ...alarms: readonly string[]): Promise<void> {
  while ((await prometheus.firing()).some((alarm) => alarms.includes(alarm))) await sleep(250); // what the last fault has fired
  const beganAt = Date.now();
  await fault();
  const awaited = new Set(alarms);
  while (awaited.size > 0) {
    for (const alarm of await prometheus.firing()) {
      if (!awaited.delete(alarm)) continue;
      fired.add(alarm);
      report.push(`${alarm}: after ${((Date.now() - beganAt) / 1_000).toFixed(0)} s`);
    }
    if (Date.now() - beganAt > firesWithinMs) throw new Error(`not fired: ${[...awaited].join(', ')}`);
    await sleep(250);
  }
}

const service = (name: string) => rondo.services.get(name);
const create = (about: string, turns: readonly Record<string, unknown>[]): Promise<RunView> =>
  client.createRun(scriptInput(about, turns));
const talking = (about: string, seconds: number) =>
  create(about, [{ text: 'word '.repeat(seconds * 4), pace_ms: 250, chunk_chars: 5 }]);
const sleeping = (about: string, seconds: number) =>
  create(about, [{ calls: [command(`sleep ${seconds}`)] }, { text: 'Done.' }]);
const settled = (runs: readonly RunView[]) => Promise.all(runs.map(({ id }) => client.waitForRun(id, 180_000)));
const workers = ['agent-worker', 'agent-worker-2'];

describe('each alarm is fired by a fault', () => {
  afterEach(async () => {
    // what the next fault needs is running again
    while ((await prometheus.query('up == 1')).length < rondo.services.all.length - 1) await sleep(200);
  });

  it('more runs than the workers have places for', async () => {
    let runs: RunView[] = [];
    await firesBy(async () => {
      runs = await Promise.all([1, 2, 3, 4, 5, 6].map((n) => talking(`many ${n}`, 12)));
    }, 'RondoRunsWait');
    await settled(runs);
  });

  it('a model provider that answers 500', async () => {
    await firesBy(
      () => Promise.all([1, 2, 3].map((n) => client.createRun({ model: 'demo/error-500', input: `Fail ${n}.` }))),
      'RondoModelProviderFails',
      'RondoRunsFail',
    );
  });

  it('more calls than the executor has slots and sandboxes for', async () => {
    let runs: RunView[] = [];
    await firesBy(
      async () => {
        runs = await Promise.all([1, 2, 3].map((n) => sleeping(`full ${n}`, 25)));
      },
      'RondoSandboxesFull',
      'RondoToolCallsWait',
    );
    await settled(runs);
  });

  it('an executor that dies in the middle of a call', async () => {
    const run = await create('killed', [{ calls: [command('echo begun; sleep 60')] }, { text: 'Done.' }]);
    await client.waitForEvent(run.id, 'tool.output'); // a call that the executor had not begun would only be begun again
    await firesBy(() => service('tool-executor').kill(), 'RondoToolEffectsUnknown');
    await client.waitForRun(run.id);
    await service('tool-executor').start();
  });

  it('no executor', async () => {
    await firesBy(() => service('tool-executor').stop(), 'RondoNoExecutor');
    await service('tool-executor').start();
  });

  it('no summarizer', async () => {
    await firesBy(() => service('summarizer').stop(), 'RondoNoSummarizer');
    await firesBy(
      () =>
        client.createRun({
          model: 'demo/loop:turns=12,output_bytes=2000',
          input: 'Go on until you are done.',
          tools: ['execute_command'],
          context: { ...smallContext, summary_model: 'demo/summary' },
        }),
      'RondoCompactionsWait',
    );
    await service('summarizer').start();
  });

  it('an executor that starts with a bubblewrap that only fails', async () => {
    await firesBy(async () => {
      bwrap.break();
      await service('tool-executor').stop();
      await service('tool-executor').start();
    }, 'RondoSandboxUnusable');
  });

  it('a worker that freezes and wakes up', async () => {
    await service('agent-worker-2').stop();
    const run = await talking('frozen', 20);
    await client.waitForEvent(run.id, 'message.delta');
    await service('agent-worker-2').start();
    await firesBy(async () => {
      await service('agent-worker').kill('SIGSTOP');
      while ((await client.facts(run.id)).every(({ epoch }) => epoch < 2)) await sleep(250);
      await service('agent-worker').kill('SIGCONT');
    }, 'RondoClaimsLost');
    await client.waitForRun(run.id);
  });

  it('no worker, and then a run whose rows are broken', async () => {
    await firesBy(() => Promise.all(workers.map((name) => service(name).stop())), 'RondoNoWorker');
    const run = await talking('broken', 1);
    await withClient(rondo.infrastructure.env.DATABASE_URL ?? '', (database) =>
      database.query(`update run_events set at = 'infinity' where run_id = $1 and seq = 2`, [run.id]),
    );
    await firesBy(() => Promise.all(workers.map((name) => service(name).start())), 'RondoRunsNotReadable');
  });

  it('a gateway that is starved of CPU', async () => {
    const fault = new AbortController();
    const starving = (async () => {
      while (!fault.signal.aborted) {
        await service('gateway').kill('SIGSTOP');
        await sleep(900);
        await service('gateway').kill('SIGCONT');
        await sleep(150);
      }
    })();
    await firesBy(() => Promise.resolve(), 'RondoProcessOverloaded');
    fault.abort();
    await starving;
  });

  it('Postgres away', async () => {
    const postgres = rondo.infrastructure.get('postgres');
    const fault = new AbortController();
    const asking = (async () => {
      while (!fault.signal.aborted) {
        await client.request('GET', '/runs').catch(() => undefined);
        await sleep(100);
      }
    })();
    await firesBy(() => postgres.stop(), 'RondoDependencyAway', 'RondoGatewayErrors');
    fault.abort();
    await asking;
    await postgres.start();
  });

  it('Redis away', async () => {
    const redis = rondo.infrastructure.get('redis');
    await firesBy(async () => {
      await redis.stop();
      await talking('no queue', 1);
    }, 'RondoJobsNotDelivered');
    await redis.start();
  });

  it('leaves no alarm out', () => {
    expect([...fired].sort()).toEqual(
      alertRules()
        .map(({ alert }) => alert)
        .sort(),
    );
  });
});
