import { join } from 'node:path';
import { ownerPassword } from './credentials.mjs';
import { privateDirectory, reachableDirectory, writePrivate } from '../processes/data-directory.mjs';
import { DebianPackages } from '../install/debian-packages.mjs';
import { findProgram } from '../install/find-program.mjs';
import { inUrl } from './free-port.mjs';
import { probes } from './probes.mjs';

/** Redis, or Valkey, on an address of this machine, with persistent data and a password. */
export const redis = {
  name: 'redis',
  variable: 'REDIS_URL',
  preferredPort: 6379,
  install: 'apt install redis-server | brew install redis | docker compose up -d redis',

  findLocal({ path }) {
    const file = findProgram(['redis-server', 'valkey-server'], path);
    return file && { file, env: {} };
  },

  async fromPackages(packages) {
    const unpacked = await packages.unpack('redis', {
      packages: ['redis-server', 'redis-tools'],
      programs: ['redis-server'],
    });
    return { file: join(unpacked.programs['redis-server'], 'redis-server'), env: unpacked.env };
  },

  /** The password is in a private file, because every user of the machine can read command lines. */
  async prepare({ program, dataDir, host, port }) {
    const data = privateDirectory(join(dataDir, 'redis'));
    const configuration = join(data, 'redis.conf');
    const password = ownerPassword(dataDir, 'redis');
    const url = `redis://:${password}@${inUrl(host)}:${port}`;
    writePrivate(configuration, toConfiguration({ host, port, data, password }));
    return {
      url,
      where: program.file,
      stopSignal: 'SIGTERM',
      probe: () => probes.redis(url),
      command: () => ({
        file: program.file,
        args: [configuration],
        env: { PATH: process.env.PATH, ...program.env },
      }),
    };
  },
};

function toConfiguration({ host, port, data, password }) {
  return [
    `port ${port}`,
    `bind ${host}`,
    `dir ${JSON.stringify(data)}`,
    `requirepass ${password}`,
    'appendonly yes',
    'save ""',
    'maxmemory-policy noeviction',
    'daemonize no',
    '',
  ].join('\n');
}

/**
 * The program, from the PATH or from the distribution's package below the data directory, and the environment that it needs.
 *
 * @param {string} dataDir
 * @returns {Promise<{ file: string, env: NodeJS.ProcessEnv }>}
 */
export async function findRedisServer(dataDir) {
  const local = redis.findLocal({ path: process.env.PATH });
  return local ?? redis.fromPackages(new DebianPackages(reachableDirectory(dataDir, 'packages')));
}
