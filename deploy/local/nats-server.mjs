import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { privateDirectory } from './data-directory.mjs';
import { findProgram } from './find-program.mjs';
import { probes } from './probes.mjs';
import { run } from './run-program.mjs';

/** NATS with JetStream on 127.0.0.1. */
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

  async prepare({ program, dataDir, port }) {
    const data = privateDirectory(join(dataDir, 'nats'));
    const configuration = join(data, 'nats.conf');
    const { stdout } = await run(program.file, ['--version'], { env: program.env });
    writeFileSync(configuration, configurationOf({ port, data, version: stdout }));
    return {
      url: `nats://127.0.0.1:${port}`,
      where: program.file,
      stopSignal: 'SIGTERM',
      probe: () => probes.nats(`nats://127.0.0.1:${port}`),
      command: () => ({
        file: program.file,
        args: ['--config', configuration],
        env: { PATH: process.env.PATH, ...program.env },
      }),
    };
  },
};

function configurationOf({ port, data, version }) {
  const [, major, minor] = /v(\d+)\.(\d+)/.exec(version).map(Number);
  const knowsSyncInterval = major > 2 || minor >= 10; // an older server refuses to start with it
  return [
    `listen: "127.0.0.1:${port}"`,
    'max_payload: 8MB', // a tool call carries its arguments, a whole file for example
    'jetstream {',
    `  store_dir: ${JSON.stringify(data)}`,
    '  max_memory_store: 256MB',
    '  max_file_store: 8GB',
    ...(knowsSyncInterval ? ['  sync_interval: "1s"'] : []),
    '}',
    '',
  ].join('\n');
}
