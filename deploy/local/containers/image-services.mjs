import { chownSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { toConfinement } from './containers.mjs';
import { executorId, toPassword } from '../servers/credentials.mjs';
import { imageName } from './image-build.mjs';
import { roleOfUrl } from '../servers/prepare-database.mjs';
import { repoRoot } from '../repo-root.mjs';
import { databaseServices } from '../servers/roles.mjs';
import { passwordVariable } from '../servers/secret-variables.mjs';
import { serviceNames } from '../services/service-environment.mjs';
import { Services } from '../services/services.mjs';

const userOfImages = 1000;
const toContainer = (name) => `rondo-${name}`;

/** Migrates the database with the image of the migrations, which also gives each service its role. */
export async function migrateWithImage(containers, { url, dataDir }) {
  const passwords = databaseServices.map((service) => [
    passwordVariable('POSTGRES', service),
    toPassword(dataDir, 'postgres', roleOfUrl(service, url)),
  ]);
  const { stdout } = await containers.runToEnd({
    image: imageName('migrations'),
    name: toContainer('migrations'),
    env: { DATABASE_URL: url, ...Object.fromEntries(passwords) },
    options: toConfinement((await composeServices()).migrations),
  });
  return stdout.trim();
}

/** The services of `npm start`, each from its image and confined as docker-compose.yml says. */
export async function servicesFromImages(containers, { dataDir, infrastructure, adminKey, log }) {
  const compose = await composeServices();
  const volume = executorVolume(dataDir);
  return new Services({
    ...{ dataDir, infrastructure, adminKey, log, supervise: false, env: {} },
    settings: {
      'tool-executor': {
        EXECUTOR_ID: executorId(dataDir, 'tool-executor'),
        SANDBOX_ROOT: '/data/sandboxes',
        EXECUTOR_ID_FILE: '/data/executor-id',
      },
    },
    launch: ({ service, name, env }) =>
      containers.command({
        image: imageName(service),
        name: toContainer(name),
        env,
        options: [
          ...toConfinement(compose[service]),
          ...(service === 'tool-executor' ? [`--volume=${volume}:/data`] : []),
        ],
      }),
  });
}

/** For `runCommand`: what is left of containers whose podman was killed. */
export const removalOfContainers = (containers) => ({
  stop: () => containers.remove([...serviceNames, 'migrations', 'cli'].map(toContainer)),
});

/** Runs the command line from its image. */
export function runCli(containers, { url, adminKey, args }) {
  return containers.runToEnd({
    image: imageName('cli'),
    name: toContainer('cli'),
    env: { RONDO_URL: url, RONDO_API_KEY: adminKey },
    options: toConfinement({ cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'], read_only: true }),
    args,
  });
}

/** The package is imported late, because a fresh clone has none. */
async function composeServices() {
  const { CORE_SCHEMA, load, mergeTag } = await import('js-yaml');
  const text = readFileSync(join(repoRoot, 'docker-compose.yml'), 'utf8');
  return load(text, { schema: CORE_SCHEMA.withTags(mergeTag) }).services;
}

function executorVolume(dataDir) {
  const folder = join(dataDir, 'executor-volume');
  mkdirSync(folder, { recursive: true });
  chownSync(folder, userOfImages, userOfImages);
  return folder;
}
