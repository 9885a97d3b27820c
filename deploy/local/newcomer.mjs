import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium as playwright } from 'playwright-core';
import { runCommand } from './command.mjs';
import { emptyDataDirectory } from './processes/data-directory.mjs';
import { findBrowser } from './install/find-browser.mjs';
import { choosePort, isFree } from './servers/free-port.mjs';
import { firstSteps } from './tests/newcomer-steps.mjs';
import { step, terminal as log } from './progress.mjs';
import { repoRoot } from './repo-root.mjs';
import { run } from './run-program.mjs';

const help = `npm run newcomer               clones this repository into an empty folder, starts it, and does in a browser what a newcomer does first
npm run newcomer -- --download  also downloads the servers that are not installed, instead of taking those of this folder

What is cloned is the newest commit. Packages come from npm's cache where it has them.`;

async function newcomer({ owns }) {
  const since = performance.now();
  const { folder } = owns(new EmptyFolder());
  await step(log, 'clone', { work: () => clone(folder) });
  const started = owns(new Started(folder, await choosePort()));
  const link = await step(log, 'npm start', { work: () => started.link() });
  const browser = owns(await openBrowser(folder));
  await firstSteps(await browser.page(), { link, log });
  await step(log, 'Ctrl-C', { work: () => started.interrupt() });
  log.note(`\n  A newcomer's first steps took ${((performance.now() - since) / 1000).toFixed(0)} s.`);
  return 0;
}

/** Other users may pass through it, as through a folder that a person makes. */
class EmptyFolder {
  #parent = mkdtempSync(join(tmpdir(), 'rondo-newcomer-'));
  folder = join(this.#parent, 'rondo');

  constructor() {
    chmodSync(this.#parent, 0o755);
  }

  stop() {
    const dataDir = join(this.folder, '.data');
    if (existsSync(dataDir)) emptyDataDirectory(dataDir);
    rmSync(this.#parent, { recursive: true, force: true });
  }
}

async function clone(folder) {
  await run('git', ['clone', '--quiet', '--no-hardlinks', repoRoot, folder]);
  const unpacked = join(repoRoot, '.data/packages');
  if (process.argv.includes('--download') || !existsSync(unpacked)) return;
  mkdirSync(join(folder, '.data'), { mode: 0o711 });
  await run('cp', ['--archive', '--link', unpacked, join(folder, '.data')]).catch(
    () => run('cp', ['--archive', unpacked, join(folder, '.data')]), // on another disk
  );
}

/** Without what the npm that runs this has set, and without servers and models of this machine's own. */
function environment(port) {
  const own = /^(npm_|RONDO_|DATABASE_URL|REDIS_URL|NATS_URL|OPENAI_|ANTHROPIC_|DEMO_RUNS|INIT_CWD|NODE_ENV)/;
  const kept = Object.entries(process.env).filter(([name]) => !own.test(name));
  return { ...Object.fromEntries(kept), PORT: String(port), npm_config_prefer_offline: 'true' };
}

/** `npm start` at a terminal of its own, so that an interrupt reaches all of its processes, as Ctrl-C does. */
class Started {
  #child;
  #port;
  #output = '';
  #ended;
  #linked;

  constructor(folder, port) {
    this.#port = port;
    this.#child = spawn('npm', ['start'], {
      ...{ cwd: folder, env: environment(port), detached: true },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#ended = new Promise((resolve) => this.#child.once('close', resolve));
    this.#linked = new Promise((resolve) => {
      for (const stream of [this.#child.stdout, this.#child.stderr]) {
        stream.on('data', (chunk) => {
          this.#output += chunk;
          const [link] = /http:\/\/\S+\/session\?code=\S+/.exec(this.#output) ?? [];
          if (link) resolve(link);
        });
      }
    });
  }

  /** The link that it prints when everything runs. */
  link() {
    const failed = this.#ended.then(() => {
      throw this.#failure();
    });
    return Promise.race([this.#linked, failed]);
  }

  /** npm ends by the signal, or with the code of what it has started. Rejects if something still listens. */
  async interrupt() {
    await this.stop();
    const { exitCode, signalCode } = this.#child;
    if ((exitCode !== 0 && signalCode !== 'SIGINT') || !(await isFree(this.#port))) throw this.#failure();
  }

  /** Resolves when all of its processes have closed their output. */
  async stop() {
    if (this.#child.exitCode === null && this.#child.signalCode === null) process.kill(-this.#child.pid, 'SIGINT');
    await this.#ended;
  }

  #failure() {
    return new Error(
      `npm start ended with ${this.#child.signalCode ?? `code ${this.#child.exitCode}`}\n${this.#output}`,
    );
  }
}

/** This machine's, or the one that the sandboxes of the clone use. */
async function openBrowser(folder) {
  const browser = await playwright.launch({ executablePath: await findBrowser(folder) });
  return {
    page: () => browser.newPage({ viewport: { width: 1280, height: 800 } }),
    stop: () => browser.close(),
  };
}

if (process.argv.includes('--help')) console.log(help);
else await runCommand(newcomer, { log, codeWhenInterrupted: 130 });
