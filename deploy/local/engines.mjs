import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand } from './command.mjs';
import { ContainerEngine, askEngine, engineKinds, nodeImage } from './container-engine/container-engine.mjs';
import { installPackages, requireNode } from './install/install.mjs';
import { step, terminal as log } from './progress.mjs';
import { repoRoot } from './repo-root.mjs';
import { Verification, checks, jest } from './checks/verification.mjs';

const kinds = Object.keys(engineKinds);
const help = `npm run engines                         builds deploy/sandbox and tries its programs; then, with these engines of Debian one after the other,
                                        the contract of sandboxes, attacks on them, tools for pages, documents and files, and
                                        the image and the packages of an agent through the API of a whole deployment:
                                        ${kinds.join(', ')}
npm run engines -- --only <name>        with one of them
npm run engines -- --socket <path>      with the engine of this machine at that socket, which has the image rondo-sandbox

Linux, as root. Debian's packages are unpacked below .data/engines (11 GB with the image; delete the folder to be rid of them); nothing is
installed but mmdebstrap. As root, every container has a user of its own, as in a deployment. Containers of others are not touched.
About five minutes for each engine, and ten before the first.`;

const image = 'rondo-sandbox:latest';
const browser = '/usr/lib/chromium/chromium-headless-shell';
const archive = join(repoRoot, '.data/engines/sandbox-image.tar');
const specs = [
  'sandboxes/docker/.*contract',
  'environment-on-engine',
  'environments/prepare-workspace',
  'tools/programs',
  'agent.attacks',
  'network.attacks',
  'sandbox-secrets.attacks',
  'search.attacks',
  'browser.attacks',
  'browser.handlers',
  'text-extract.handlers',
  'file.handlers',
  'shell.handlers',
];
/** As a sandbox has it. */
const confinement = [
  ...['--rm', '--network=none', '--user=12345:12345', '--read-only', '--tmpfs=/tmp:exec,mode=1777', '--env=HOME=/tmp'],
  ...['--cap-drop=ALL', '--security-opt=no-new-privileges:true', '--pids-limit=256', '--memory=2g'],
];
const option = (name) => process.argv[process.argv.indexOf(name) + 1];
const socket = process.argv.includes('--socket') && option('--socket');
const chosen = process.argv.includes('--only') ? kinds.filter((kind) => kind === option('--only')) : kinds;

if (process.argv.includes('--help') || chosen.length === 0) console.log(help);
else await runCommand(main, { log, codeWhenInterrupted: 130 });

async function main({ owns }) {
  requireNode();
  await installPackages(repoRoot, log);
  const verification = new Verification();
  const isBuilt = await verification.step('build', checks.build);
  const tryEngine = async (socketPath, name) => {
    await verification.step(`specs${name}`, () => runSpecs(socketPath));
    if (isBuilt) await verification.step(`whole deployment${name}`, () => runWhole(socketPath));
  };
  if (socket) {
    await step(log, 'engine', { work: () => readEngine(socket), detail: describeEngine });
    await tryEngine(socket, '');
    return verification.conclude();
  }
  await step(log, 'image', { work: () => makeImage(owns(new ContainerEngine('docker'))), detail: (said) => said });
  for (const kind of chosen) {
    const engine = owns(new ContainerEngine(kind));
    await step(log, kind, { work: () => startWithImage(engine), detail: describeEngine });
    await tryEngine(engine.socket, `, ${kind}`);
    await engine.stop();
  }
  return verification.conclude();
}

/** Builds the image, tries its programs, and keeps it as a file for all engines. */
async function makeImage(engine) {
  const folder = join(repoRoot, 'deploy/sandbox');
  await engine.start({ ownNetwork: false });
  await engine.importNodeImage();
  const base = ['--build-arg', `NODE_IMAGE=${nodeImage}`];
  await engine.docker('build', '--network=host', ...base, '--tag', image, folder);
  const script = readFileSync(join(folder, 'try-programs.sh'), 'utf8');
  const { stdout } = await engine.docker('run', ...confinement, image, 'bash', '-euo', 'pipefail', '-c', script);
  await engine.docker('save', '--output', archive, image);
  await engine.stop();
  return stdout.trim();
}

async function startWithImage(engine) {
  await engine.start({ ownNetwork: false });
  await engine.docker('load', '--input', archive);
  return readEngine(engine.socket);
}

/** What the engine says of itself. Rejects if it does not answer, or has no image for the containers. */
async function readEngine(socketPath) {
  const version = JSON.parse(await askEngine(socketPath, '/version'));
  await askEngine(socketPath, `/v${version.ApiVersion}/images/${image}/json`);
  return version;
}

function describeEngine({ Version, ApiVersion, MinAPIVersion }) {
  return `${Version}, API ${MinAPIVersion} to ${ApiVersion}`;
}

function toVariables(socketPath) {
  return { TEST_DOCKER_SOCKET: socketPath, TEST_DOCKER_IMAGE: image, TEST_DOCKER_BROWSER: browser };
}

function runSpecs(socketPath) {
  return jest(['tool-executor'], {
    env: toVariables(socketPath),
    args: [
      '--testPathPatterns',
      specs.join('|'),
      '--testNamePattern',
      '^(?!.*(bubblewrap|Daytona))',
      '--maxWorkers',
      '1',
    ],
  });
}

function runWhole(socketPath) {
  const args = ['--testPathPatterns', 'environment-on-engine.e2e', '--runInBand', '--forceExit'];
  return jest(['e2e'], { env: toVariables(socketPath), args });
}
