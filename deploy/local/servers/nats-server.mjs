import { join } from 'node:path';
import { executorId, executorInstances, owner, ownerPassword, toPassword } from './credentials.mjs';
import { privateDirectory, reachableDirectory, writePrivate } from '../processes/data-directory.mjs';
import { DebianPackages } from '../install/debian-packages.mjs';
import { findProgram } from '../install/find-program.mjs';
import { inUrl } from './free-port.mjs';
import { toAuthorization, toServer } from './nats-server-configuration.mjs';
import { probes } from './probes.mjs';
import { run } from '../run-program.mjs';

/** NATS with JetStream on an address of this machine, with a user for each service. */
export const nats = {
  name: 'nats',
  variable: 'NATS_URL',
  preferredPort: 4222,
  install: 'apt install nats-server | brew install nats-server | docker compose up -d nats',

  findLocal({ path }) {
    const file = findProgram(['nats-server'], path);
    return file && { file, env: {} };
  },

  async fromPackages(packages) {
    const unpacked = await packages.unpack('nats', { packages: ['nats-server'], programs: ['nats-server'] });
    return { file: join(unpacked.programs['nats-server'], 'nats-server'), env: unpacked.env };
  },

  async prepare({ program, dataDir, host, port }) {
    const data = privateDirectory(join(dataDir, 'nats'));
    const configuration = join(data, 'nats.conf');
    const { stdout } = await run(program.file, ['--version'], { env: program.env });
    const place = `${inUrl(host)}:${port}`;
    writePrivate(configuration, toConfiguration({ listen: place, data, dataDir, version: stdout }));
    return {
      url: `nats://${owner}:${ownerPassword(dataDir, 'nats')}@${place}`,
      where: program.file,
      stopSignal: 'SIGTERM',
      probe: () => probes.nats(`nats://${place}`),
      command: () => ({
        file: program.file,
        args: ['--config', configuration],
        env: { PATH: process.env.PATH, ...program.env },
      }),
    };
  },
};

function toConfiguration({ listen, data, dataDir, version }) {
  const [, major, minor] = /v(\d+)\.(\d+)/.exec(version).map(Number);
  const knowsSyncInterval = major > 2 || minor >= 10; // an older server refuses to start with it
  return [toServer({ listen: [`listen: "${listen}"`], storeDir: data, knowsSyncInterval }), toUsers(dataDir)].join(
    '\n',
  );
}

/**
 * All users of the NATS server of this data directory, as a part of its configuration.
 *
 * @param {string} dataDir
 * @returns {string}
 */
export function toUsers(dataDir) {
  return toAuthorization({
    executors: executorInstances().map((instance) => executorId(dataDir, instance)),
    toPassword: (user) =>
      JSON.stringify(user === owner ? ownerPassword(dataDir, 'nats') : toPassword(dataDir, 'nats', user)),
    owner,
  });
}

/**
 * The program, from the PATH or from the distribution's package below the data directory, and the environment that it needs.
 *
 * @param {string} dataDir
 * @returns {Promise<{ file: string, env: NodeJS.ProcessEnv }>}
 */
export async function findNatsServer(dataDir) {
  const local = nats.findLocal({ path: process.env.PATH });
  return local ?? nats.fromPackages(new DebianPackages(reachableDirectory(dataDir, 'packages')));
}
