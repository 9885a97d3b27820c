import { join } from 'node:path';
import { images } from '../images/contents.mjs';
import { runCommand } from './command.mjs';
import { Containers, installContainerTools, removeContainers } from './containers/containers.mjs';
import { programOutputs, toApi } from './services/demo-runs.mjs';
import { buildImage, listFlaws, imageName } from './containers/image-build.mjs';
import { migrateWithImage, removalOfContainers, runCli, servicesFromImages } from './containers/image-services.mjs';
import { Infrastructure } from './servers/infrastructure.mjs';
import { installPackages, requireNode } from './install/install.mjs';
import { buildNodeBase } from './containers/node-base.mjs';
import { step, terminal as log } from './progress.mjs';
import { repoRoot } from './repo-root.mjs';
import { secret } from './processes/secrets.mjs';

const help = `npm run images             builds the images of deploy/Dockerfile without Docker or a registry, and runs every service from its own:
                           migrations, readiness, a run with commands in a sandbox; prints sizes and start times
npm run images -- --build  only builds them
npm run images -- --clean  removes all images and what was kept to build them faster

Linux on x64, as root. buildah, podman, runc and mmdebstrap are installed with apt where they are missing. Images, containers and
data are below .data/images: some 10 GB, and more with each change, until they are removed.`;

const directory = join(repoRoot, '.data/images');
const dataDir = join(directory, 'run');
const onlyBuild = process.argv.includes('--build');

if (process.argv.includes('--help')) console.log(help);
else await runCommand(main, { log, codeWhenInterrupted: 130 });

async function main({ owns }) {
  if (process.argv.includes('--clean')) {
    await step(log, 'clean', { work: () => removeContainers(directory) });
    return 0;
  }
  requireNode();
  await installPackages(repoRoot, log);
  await step(log, 'programs', { work: installContainerTools, detail: (installed) => installed.join(', ') });
  const containers = new Containers(directory);
  const base = await step(log, 'base', { work: () => buildNodeBase(containers, directory), detail: (name) => name });
  const built = await buildAll(containers, base);
  const readyAfterMs = onlyBuild ? {} : await runAll({ containers, owns });
  log.note(toTable(built, readyAfterMs));
  return 0;
}

/** The size of each image, and of what it does not share with all others. */
async function buildAll(containers, base) {
  const sizes = {};
  for (const target of ['runtime', ...Object.keys(images)]) {
    sizes[target] = await step(log, target, {
      work: async () => {
        await buildImage(containers, { target, base });
        const described = await containers.inspect(imageName(target));
        const flaws = target in images ? listFlaws(described) : [];
        if (flaws.length > 0) throw new Error(`the image ${flaws.join(', ')}`);
        return described.Size;
      },
      detail: (bytes) => mebibytes(bytes),
    });
  }
  const { runtime, ...built } = sizes;
  return Object.entries(built).map(([image, bytes]) => ({ image, bytes, own: bytes - runtime }));
}

/** Resolves with the time until each service was ready, when a run with commands in a sandbox has completed. */
async function runAll({ containers, owns }) {
  owns(removalOfContainers(containers));
  const request = { dataDir, packagesDirectory: join(repoRoot, '.data'), want: ['postgres', 'redis', 'nats'], log };
  const { env: servers } = await startAndReturn(
    owns(new Infrastructure({ ...request, env: { PATH: process.env.PATH } })),
  );
  await step(log, 'migrations', { work: () => migrateWithImage(containers, { url: servers.DATABASE_URL, dataDir }) });

  const readyAfterMs = {};
  const noting = { ...log, done: (line) => (log.done(line), (readyAfterMs[line.name] = line.ms)) };
  const adminKey = secret(dataDir, 'api-key', 'rondo_');
  const services = await servicesFromImages(containers, { dataDir, infrastructure: servers, adminKey, log: noting });
  await startAndReturn(owns(services));

  const { url } = services.get('gateway');
  await step(log, 'run', {
    work: () => demoRun({ containers, url, adminKey }),
    detail: (calls) => `completed, ${calls} tool calls`,
  });
  return readyAfterMs;
}

async function startAndReturn(thing) {
  await thing.start();
  return thing;
}

/** A run of the command line in its image, whose commands run in a sandbox. Resolves with the number of its tool calls. */
async function demoRun({ containers, url, adminKey }) {
  await runCli(containers, {
    url,
    adminKey,
    args: ['run', '--model', 'demo/coder', 'Write a small program and run it.'],
  });
  const api = toApi(url, adminKey);
  const { data: runs } = await api('GET', '/v1/runs?limit=1');
  const outputs = await programOutputs(api, runs[0]);
  return outputs.length;
}

function toTable(built, readyAfterMs) {
  const rows = built.map(({ image, bytes, own }) => {
    const ready = readyAfterMs[image];
    const time = ready === undefined ? '–' : `${(ready / 1_000).toFixed(1)} s`;
    return `| ${[`rondo-${image}`.padEnd(20), mebibytes(bytes).padStart(9), mebibytes(own).padStart(9), time.padStart(11)].join(' | ')} |`;
  });
  return ['', '| image                |      size | of its own | ready after |', '|---|---|---|---|', ...rows].join(
    '\n',
  );
}

function mebibytes(bytes) {
  return `${(bytes / 2 ** 20).toFixed(0)} MiB`;
}
