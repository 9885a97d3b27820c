import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand } from './command.mjs';
import { ContainerEngine, nodeImage } from './container-engine/container-engine.mjs';
import { installPackages, requireNode } from './install/install.mjs';
import { step, terminal as log } from './progress.mjs';
import { repoRoot } from './repo-root.mjs';
import { run } from './run-program.mjs';
import { newComposeSecrets } from './servers/secret-variables.mjs';

const help = `npm run compose                    starts docker-compose.yml with a real Docker engine and Docker Compose 2, as README.md says, has a
                                   run of the demo model execute tools, and does both again after \`docker compose down\`
npm run compose -- --keep-images   with the images of this repository as they were built last

Linux, as root. Engine and Compose are Debian's packages, unpacked below .data/engines (6 GB with the images; delete the folder to be rid
of them), and the network is of their own: Docker of this machine is not touched. No registry of images is needed: Postgres, Redis, NATS
and the base are built from Debian's packages. About three minutes, and five more for the first time.`;

const directory = join(repoRoot, '.data/compose');
const file = (name) => join(directory, name);
const servers = ['postgres', 'redis', 'nats'];
const ofThisRepository = ['migrations', 'gateway', 'agent-worker', 'summarizer', 'tool-executor', 'demo-model'];
const project = [
  ...['--project-directory', repoRoot, '--env-file', file('compose.env'), '--profile', 'app'],
  ...['--file', join(repoRoot, 'docker-compose.yml'), '--file', file('without-registry.json')],
];
/** What is waited for: the migrations end before these start. */
const services = [...servers, ...ofThisRepository.slice(1)];
const standIn = (server) => `rondo-stand-in-${server}`;

if (process.argv.includes('--help')) console.log(help);
else await runCommand(main, { log, codeWhenInterrupted: 130 });

async function main({ owns }) {
  requireNode();
  await installPackages(repoRoot, log);
  const secrets = writeProject();
  const engine = owns(new ContainerEngine('docker'));
  const compose = (...args) => engine.docker('compose', ...project, ...args);
  await step(log, 'engine', { work: () => startForBuilds(engine), detail: (version) => version });
  await step(log, 'servers', { work: () => buildServers(engine), detail: () => servers.join(', ') });
  if (!process.argv.includes('--keep-images'))
    await step(log, 'build', { work: () => compose('build'), detail: () => ofThisRepository.join(', ') });
  await engine.stop();

  await engine.start({ ownNetwork: true });
  owns({ stop: () => compose('down', '--volumes', '--timeout', '5') });
  const first = await proveProject({ engine, compose, secrets });
  if (first.changed.length === 0) throw new Error('no earlier state of the files was kept');
  await step(log, 'down', { work: () => compose('down') });
  const second = await proveProject({ engine, compose, secrets, thread: first.thread });
  if (!second.outputs.some((output) => output.startsWith('Rewrote')))
    throw new Error(`the second run has not found the file of the first; tools said:\n${second.outputs.join('\n')}`);
  return 0;
}

/** Writes passwords, and what replaces the images that a registry would have. Returns the passwords. */
function writeProject() {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const configuration = readFileSync(join(repoRoot, 'deploy/nats.conf'), 'utf8');
  writeFileSync(file('nats.conf'), configuration.replace(/^ *sync_interval:.*\n/m, '')); // Debian's server is older than the image
  const secrets = newComposeSecrets();
  const settings = `NATS_CONF=${file('nats.conf')}\nSANDBOX_REWIND_MB=256\n`;
  writeFileSync(file('compose.env'), `${secrets}${settings}`, { mode: 0o600 });
  const build = { args: { NODE_IMAGE: nodeImage }, network: 'host' };
  const replaced = {
    ...Object.fromEntries(servers.map((server) => [server, { image: standIn(server), pull_policy: 'never' }])),
    ...Object.fromEntries(ofThisRepository.map((service) => [service, { build }])),
  };
  writeFileSync(file('without-registry.json'), JSON.stringify({ services: replaced }));
  return secrets;
}

/** Resolves with the versions of the engine and of Compose. */
async function startForBuilds(engine) {
  await engine.start({ ownNetwork: false });
  await engine.importNodeImage();
  const said = await Promise.all([
    engine.docker('version', '--format', '{{.Server.Version}}'),
    engine.docker('compose', 'version', '--short'),
  ]);
  return `Docker ${said.map(({ stdout }) => stdout.trim()).join(', Compose ')}`;
}

async function buildServers(engine) {
  const folder = join(import.meta.dirname, 'cluster/server-images');
  for (const server of servers) {
    const what = ['--file', join(folder, 'Containerfile'), '--target', server, '--tag', standIn(server), folder];
    await engine.docker('build', '--network=host', '--build-arg', `BASE=${nodeImage}`, ...what);
  }
}

/** Starts the project, and a run in it by the published port, from the network in which that is published. */
async function proveProject({ engine, compose, secrets, thread }) {
  await step(log, 'up', {
    work: () =>
      compose('up', '--detach', '--no-build', '--wait', ...services).catch(async (error) => {
        const { stdout } = await compose('logs', '--no-color', '--tail', '5');
        throw new Error(`${error.message}\n${stdout}`);
      }),
    detail: () => 'all services are healthy',
  });
  const [, key] = /^RONDO_ADMIN_KEY=(.*)$/m.exec(secrets);
  const script = join(import.meta.dirname, 'containers/compose-run.mjs');
  const inNetwork = [`--net=/proc/${engine.pid}/ns/net`, process.execPath, script, 'http://127.0.0.1:3000'];
  const options = { env: { PATH: process.env.PATH, RONDO_API_KEY: key }, timeoutMs: 120_000 };
  return step(log, 'run', {
    work: async () => JSON.parse((await run('nsenter', [...inNetwork, ...(thread ? [thread] : [])], options)).stdout),
    detail: ({ outputs, changed }) => `completed, ${outputs.length} tool calls; ${changed.join(', ')} could go back`,
  });
}
