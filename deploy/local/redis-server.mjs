import { join } from 'node:path';
import { privateDirectory } from './data-directory.mjs';
import { findProgram } from './find-program.mjs';
import { probes } from './probes.mjs';

/** Redis, or Valkey, on 127.0.0.1, with its data on disk. */
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

  async prepare({ program, dataDir, port }) {
    const data = privateDirectory(join(dataDir, 'redis'));
    const url = `redis://127.0.0.1:${port}`;
    return {
      url,
      where: program.file,
      stopSignal: 'SIGTERM',
      probe: () => probes.redis(url),
      command: () => ({
        file: program.file,
        args: ['--port', String(port), '--bind', '127.0.0.1', '--dir', data, ...settings],
        env: { PATH: process.env.PATH, ...program.env },
      }),
    };
  },
};

const settings = ['--appendonly', 'yes', '--save', '', '--maxmemory-policy', 'noeviction', '--daemonize', 'no'];
