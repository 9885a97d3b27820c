import { existsSync, writeFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from './services/build.mjs';
import { runCommand } from './command.mjs';
import { claimDataDirectory } from './processes/data-directory.mjs';
import { Infrastructure } from './servers/infrastructure.mjs';
import { installPackages, requireNode } from './install/install.mjs';
import { prepareDatabase } from './servers/prepare-database.mjs';
import { step, terminal as log } from './progress.mjs';
import { repoRoot } from './repo-root.mjs';
import { secret } from './processes/secrets.mjs';
import { Services } from './services/services.mjs';
import { findGatewayAddress, loadSettings } from './services/start-settings.mjs';
import { welcome } from './services/welcome.mjs';

const help = `npm start installs, builds and runs Rondo; Ctrl-C stops it again.

Variables, all optional, also read from .env:
  PORT, HOST                            where the gateway listens (3000, 127.0.0.1)
  DATABASE_URL, REDIS_URL, NATS_URL     servers of your own; the others are found or started here
  OPENAI_API_KEY, ANTHROPIC_API_KEY,    model providers; the demo/ models need none
  OPENAI_BASE_URL, ANTHROPIC_BASE_URL
  DEMO_RUNS=0                           start no demo runs the first time
  SANDBOX_UNSAFE_HOST=1                 run tools without a sandbox where bubblewrap cannot work

Data, logs and the API key live in .data/.`;

const dataDir = join(repoRoot, '.data');

if (process.argv.includes('--help')) console.log(help);
else await runCommand(start, { log, codeWhenInterrupted: 0 });

async function start({ owns }) {
  const since = performance.now();
  requireNode();
  if (existsSync(join(repoRoot, '.env'))) loadSettings(join(repoRoot, '.env'));
  await claimDataDirectory(dataDir);
  const gateway = await findGatewayAddress(process.env);
  await installPackages(repoRoot, log);

  const infrastructure = owns(new Infrastructure({ dataDir, preferredPorts: true, supervise: true, log }));
  await Promise.all([buildServices(), infrastructure.start().then(() => prepare(infrastructure.env))]);

  const adminKey = secret(dataDir, 'api-key', 'rondo_');
  const ports = { gateway: gateway.port };
  const services = owns(new Services({ dataDir, infrastructure: infrastructure.env, adminKey, ports, log }));
  await services.start();

  for (const program of [...infrastructure.servers, ...services.all]) reportDeaths(program);
  const { url } = services.get('gateway');
  writeFileSync(join(dataDir, 'url'), `${url}\n`); // where `rondo` finds it, on any port
  const wantsDemoRuns = process.env.DEMO_RUNS !== '0';
  const seconds = (performance.now() - since) / 1000;
  log.note(await welcome({ url, adminKey, dataDir, wantsDemoRuns, seconds }));
  const problem = sandboxProblem(join(dataDir, 'logs/tool-executor.log'));
  if (problem) log.note(`\n! Tools cannot run here; everything else works. ${problem}`);
  return new Promise(() => undefined); // until a signal ends it
}

function buildServices() {
  const detail = (changed) => (changed ? '' : 'nothing has changed');
  return step(log, 'build', { work: () => build(repoRoot), detail });
}

/** The URLs are also written to a file, for Prisma's commands and for shells. */
function prepare({ DATABASE_URL, REDIS_URL, NATS_URL }) {
  const urls = Object.entries({ DATABASE_URL, REDIS_URL, NATS_URL }).map(([name, url]) => `${name}='${url}'\n`);
  writeFileSync(join(dataDir, 'servers.env'), urls.join(''), { mode: 0o600 });
  return step(log, 'migrations', {
    work: () => prepareDatabase({ url: DATABASE_URL, dataDir }),
    detail: (applied) => (applied.length > 0 ? `${applied.length} applied` : 'up to date'),
  });
}

function reportDeaths(program) {
  program.on?.('died', ({ reason, restartInMs }) => {
    log.warn({ name: program.name, detail: `${reason}; starting again in ${restartInMs} ms` });
  });
  program.on?.('recovered', ({ ms }) => log.done({ name: program.name, ms, detail: 'is back' }));
}

/** Why tools cannot run, and what to do about it, from the log of a ready tool-executor; undefined if they can run. */
function sandboxProblem(logFile) {
  const lines = readFileSync(logFile, 'utf8').split('\n');
  const line = lines.findLast((candidate) => candidate.includes('"sandboxes unavailable"'));
  if (!line) return undefined;
  const { reason, advice } = JSON.parse(line);
  return [`${reason.trim().replace(/\.$/, '')}.`, advice].join(' ').replace(/\s+/g, ' ').trim();
}
