/**
 * What keeping the states of a workspace adds to a command, with and without a pause as of a model between two, how long it takes
 * in the background, and how long a return takes at 1 GB. Needs a build and bubblewrap.
 */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { Infrastructure } from '../../../deploy/local/servers/infrastructure.mjs';
import { repoRoot } from '../../../deploy/local/repo-root.mjs';

const { createEmbeddedProvider, sandboxSettings } = createRequire(import.meta.url)('../dist/sandboxes/index.js');

const programs = new Infrastructure({
  dataDir: join(repoRoot, '.data/rewind-bench'),
  packagesDirectory: join(repoRoot, '.data'),
  want: ['bwrap'],
  env: { PATH: process.env.PATH },
});
await programs.start();
const root = await mkdtemp(join(tmpdir(), 'rondo-rewind-'));
await chmod(root, 0o711); // The users of sandboxes pass through it.
const log = { info: () => undefined, warn: (fields, text) => console.log(text, fields) };
const settings = sandboxSettings.parse({
  ...{ root, bubblewrapPath: programs.env.BWRAP_PATH, rewindBytes: 16e9, commandTimeoutMs: 600_000 },
});
const provider = createEmbeddedProvider(settings, log);
const { moments } = provider;
let id = 0;

const run = async (sandbox, command) => {
  const { ending, exitCode, output } = await sandbox.exec({ id: `call_${(id += 1)}`, command });
  if (ending !== 'exit' || exitCode !== 0) throw new Error(`${command}: ${ending} ${output}`);
};
async function measure(work) {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}
const quantile = (values, part) => [...values].sort((a, b) => a - b)[Math.ceil(values.length * part) - 1];
const ms = (value) => `${value.toFixed(1)} ms`;

async function keep(call, { thread, sandbox, command }) {
  const end = await moments.enter(thread, { run: 'run_1', call, labels: {} });
  await run(sandbox, command);
  end();
}

async function measureCommands(files, pauseMs, rounds) {
  const thread = `thr_commands_${files}_${pauseMs}`;
  const sandbox = await provider.get(thread);
  await run(sandbox, `mkdir -p d/{0..99}; for i in $(seq ${files}); do echo $i > d/$((i % 100))/$i; done`);
  const first = await measure(() =>
    keep('call_first', { thread, sandbox, command: 'true' }).then(() => moments.find(thread, [])),
  );
  const command = 'echo more >> notes; sleep 0.05';
  const [without, withStates, background] = [[], [], []];
  for (let round = 0; round < rounds; round += 1) {
    without.push(await measure(() => run(sandbox, command)));
    await delay(pauseMs);
    withStates.push(await measure(() => keep(`call_kept_${round}`, { thread, sandbox, command })));
    if (pauseMs > 0) await delay(pauseMs);
    else background.push(await measure(() => moments.find(thread, [])));
  }
  const [a, b] = [quantile(without, 0.5), quantile(withStates, 0.5)];
  console.log(
    `${files} files, pause ${pauseMs} ms: command ${ms(a)} → ${ms(b)} (${((b / a - 1) * 100).toFixed(1)} %), first state ${ms(first)}` +
      (background.length > 0 ? `, later states ${ms(quantile(background, 0.5))} in the background` : ''),
  );
  await moments.find(thread, []);
  await provider.remove(thread);
}

async function measureReturns(rounds) {
  const thread = 'thr_returns';
  const sandbox = await provider.get(thread);
  const first = await measure(() =>
    keep('call_a', {
      thread,
      sandbox,
      command: 'mkdir d; for i in $(seq 1000); do head -c 1M /dev/urandom > d/$i; done',
    }).then(() => moments.find(thread, [])),
  );
  await keep('call_b', {
    thread,
    sandbox,
    command: 'for i in $(seq 50); do head -c 1M /dev/urandom > d/$i; done; rm d/60',
  });
  await moments.find(thread, []);
  const returns = [];
  for (let round = 0; round < rounds; round += 1) {
    const order = { of: thread, moment: round % 2 ? 'call_b' : 'call_a', run: `run_r${round}`, labels: {} };
    returns.push(await measure(() => moments.bringBack(thread, order)));
  }
  const fork = await measure(() =>
    moments.bringBack('thr_fork', { of: thread, moment: 'call_a', run: 'run_f', labels: {} }),
  );
  console.log(
    `1 GB in 1000 files: written and kept ${ms(first)}, 50 MB brought back p50 ${ms(quantile(returns, 0.5))} p95 ${ms(quantile(returns, 0.95))}, all of it into a fork ${ms(fork)}`,
  );
}

await measureCommands(2_000, 500, 20);
await measureCommands(2_000, 0, 20);
await measureCommands(50_000, 3_000, 5);
await measureCommands(50_000, 0, 5);
await measureReturns(20);
await provider.close();
await programs.stop();
await rm(root, { recursive: true, force: true });
process.exit(0);
