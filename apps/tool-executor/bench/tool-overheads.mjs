/**
 * What a sandbox adds to a command, to the first command of a thread and to the start of a browser, beside the same without
 * a sandbox in the same rounds; needs a build, bubblewrap and Chromium. Prints medians.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { Infrastructure } from '../../../deploy/local/servers/infrastructure.mjs';
import { repoRoot } from '../../../deploy/local/repo-root.mjs';

const load = createRequire(import.meta.url);
const { createEmbeddedProvider, sandboxSettings } = load('../dist/sandboxes/index.js');
const { launchBrowser, killBrowser } = load('../dist/tools/browser/launch-browser.js');

const programs = new Infrastructure({
  dataDir: join(repoRoot, '.data/tool-overheads'),
  packagesDirectory: join(repoRoot, '.data'),
  want: ['bwrap', 'chromium'],
  env: { PATH: process.env.PATH },
});
await programs.start();
const { BWRAP_PATH, BROWSER_PATH } = programs.env;
const root = await mkdtemp(join(tmpdir(), 'rondo-overheads-'));
await chmod(root, 0o711); // The users of sandboxes pass through it.
const settings = sandboxSettings.parse({ root, bubblewrapPath: BWRAP_PATH, browserPath: BROWSER_PATH });
const silent = () => undefined;
const log = { debug: silent, info: silent, warn: silent, error: silent };
const provider = createEmbeddedProvider(settings, log);
let id = 0;

async function measureCommands() {
  const sandbox = await provider.get('thr_warm');
  const inSandbox = () => runTrue(sandbox);
  for (let round = 0; round < 20; round += 1) await inSandbox();
  const { plain, ours } = await alternately(200, plainSpawn, inSandbox);
  const more = (ours - plain).toFixed(1);
  console.log(`command in a warm sandbox: ${beside(ours, plain)}; ${more} ms more (goal: at most 5)`);
}

async function measureFirstSandboxes() {
  const { plain, ours } = await alternately(20, plainSpawn, async () =>
    runTrue(await provider.get(`thr_${(id += 1)}`)),
  );
  console.log(`first sandbox of a thread, with a command: ${beside(ours, plain)} (goal: at most 300 ms)`);
}

/** The same where one is ready. The next round waits until the one that was used is replaced. */
async function measureWarmSandboxes() {
  const prepared = createEmbeddedProvider({ ...settings, prepared: 1 }, log);
  const ready = async () => {
    while (prepared.countPrepared().ready < 1) await delay(5);
  };
  await prepared.probe();
  await ready();
  const { plain, ours } = await alternately(20, plainSpawn, async () => {
    await runTrue(await prepared.get(`thr_${(id += 1)}`));
    return ready;
  });
  await prepared.close();
  console.log(`the same with SANDBOX_WARM=1: ${beside(ours, plain)}`);
}

async function measureBrowsers() {
  const sandbox = await provider.get('thr_browser');
  await runTrue(sandbox);
  const browsers = [];
  const { plain, ours } = await alternately(7, plainBrowser, async () => {
    browsers.push(await launchBrowser(sandbox, 'run_bench'));
    return () => killBrowser(sandbox, browsers.pop());
  });
  console.log(`browser ready in a warm sandbox: ${beside(ours, plain)} (goal: at most 700 ms)`);
}

const runTrue = (sandbox) => sandbox.exec({ id: `call_${(id += 1)}`, command: 'true', timeoutMs: 10_000 }).then(silent);

const plainSpawn = () => once(spawn('bash', ['-c', 'true']), 'close').then(silent);

/** The same browser without a sandbox, until it says where it listens. */
async function plainBrowser() {
  const profile = await mkdtemp(join(tmpdir(), 'rondo-profile-'));
  const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--remote-debugging-port=0'];
  const child = spawn(BROWSER_PATH, [...flags, `--user-data-dir=${profile}`, 'about:blank'], {
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  for await (const line of createInterface({ input: child.stderr })) if (line.startsWith('DevTools listening')) break;
  return async () => {
    const closed = once(child, 'exit');
    process.kill(-child.pid, 'SIGKILL');
    await closed;
    await rm(profile, { recursive: true, force: true, maxRetries: 5 });
  };
}

/** Medians of the milliseconds that each takes, one after the other. What the work returns is done after its time is taken. */
async function alternately(rounds, plainly, inSandbox) {
  const times = { plain: [], ours: [] };
  for (let round = 0; round < rounds; round += 1) {
    times.plain.push(await measureTime(plainly));
    times.ours.push(await measureTime(inSandbox));
  }
  return { plain: median(times.plain), ours: median(times.ours) };
}

async function measureTime(work) {
  const startedAt = performance.now();
  const cleanUp = await work();
  const time = performance.now() - startedAt;
  await cleanUp?.();
  return time;
}

const median = (times) => times.sort((one, other) => one - other)[Math.floor(times.length / 2)];
const beside = (ours, plain) =>
  `${ours.toFixed(1)} ms, without a sandbox ${plain.toFixed(1)} ms, x${(ours / plain).toFixed(1)}`;

try {
  await measureCommands();
  await measureFirstSandboxes();
  await measureWarmSandboxes();
  if (BROWSER_PATH) await measureBrowsers();
  else console.log('browser ready: not measured, there is no Chromium');
} finally {
  await provider.close();
  await programs.stop();
  await rm(root, { recursive: true, force: true });
}
