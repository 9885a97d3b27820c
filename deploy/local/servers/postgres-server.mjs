import { execFileSync } from 'node:child_process';
import { chownSync, copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { owner as user, ownerPassword } from './credentials.mjs';
import { reachableDirectory } from '../processes/data-directory.mjs';
import { DebianPackages } from '../install/debian-packages.mjs';
import { postgresDirectories } from '../install/find-program.mjs';
import { inUrl } from './free-port.mjs';
import { probes } from './probes.mjs';
import { run } from '../run-program.mjs';

const database = 'rondo';

/** PostgreSQL on an address of this machine. It refuses to run as root; started by root, it runs as `postgres`, or else as `nobody`. */
export const postgres = {
  name: 'postgres',
  variable: 'DATABASE_URL',
  preferredPort: 5432,
  install: 'apt install postgresql | brew install postgresql@17 | docker compose up -d postgres',

  findLocal({ path, dataDir }) {
    const directories = postgresDirectories(path);
    const wanted = majorOfData(dataDir);
    const directory = wanted ? directories.find((candidate) => majorOfPrograms(candidate) === wanted) : directories[0];
    if (!directory && directories.length > 0) {
      throw new Error(
        `${toData(dataDir)} was written by PostgreSQL ${wanted}, which is not here; install it or remove that directory`,
      );
    }
    return directory && { directory, env: {} };
  },

  async fromPackages(packages) {
    const newest = await packages.readDependency('postgresql', /postgresql-\d+/);
    const unpacked = await packages.unpack('postgres', { packages: [newest], programs: ['postgres', 'initdb'] });
    return { directory: unpacked.programs.postgres, env: unpacked.env };
  },

  /**
   * Creates the data directory once, and returns how to run the server. If it need not be durable, what it has written survives
   * its own death but not that of the machine, and no statement waits for a disk.
   */
  async prepare({ program, dataDir, host, port, isDurable }) {
    const password = ownerPassword(dataDir, 'postgres');
    const data = toData(dataDir);
    const owner = serverOwner();
    const url = `postgresql://${user}:${password}@${inUrl(host)}:${port}/${database}`;
    if (!existsSync(join(data, 'PG_VERSION'))) await initialize({ program, data, password, owner, isDurable });
    return {
      url,
      where: program.directory,
      stopSignal: 'SIGINT', // a fast shutdown: SIGTERM would wait until all clients disconnect
      refusesBesideRemains: /pre-existing shared memory block/, // the child processes of a killed server outlive it by a moment
      probe: () => probes.postgres(url),
      command: () => ({
        file: join(program.directory, 'postgres'),
        args: ['-D', data, ...settings({ host, port, isDurable }).flatMap((setting) => ['-c', setting])],
        cwd: data,
        env: { PATH: process.env.PATH, LANG: 'C', ...program.env },
        ...owner,
      }),
    };
  },
};

function settings({ host, port, isDurable }) {
  return [
    `port=${port}`,
    `listen_addresses=${host}`,
    'unix_socket_directories=',
    'max_connections=200',
    'shared_buffers=128MB',
    'jit=off', // compilation costs more than our short queries, and its library is a separate package
    ...(isDurable ? [] : ['fsync=off', 'full_page_writes=off']),
  ];
}

async function initialize({ program, data, password, owner, isDurable }) {
  const passwordFile = `${data}.password`;
  rmSync(data, { recursive: true, force: true }); // the remains of an interrupted first start
  mkdirSync(data, { mode: 0o700 });
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (owner.uid !== undefined) [data, passwordFile].forEach((path) => chownSync(path, owner.uid, owner.gid));
  const files = ['-D', data, ...(isDurable ? [] : ['--no-sync'])];
  const login = ['--username', user, '--pwfile', passwordFile, '--auth', 'scram-sha-256'];
  await run(join(program.directory, 'initdb'), [...files, ...login, '--encoding', 'UTF8', '--no-locale'], {
    cwd: data,
    env: { PATH: process.env.PATH, ...program.env },
    ...owner,
  });
  rmSync(passwordFile);
}

/** Copies the data and the password of one data directory to another one, which has none. */
export function copyPostgres(from, to) {
  copyFileSync(join(from, 'postgres-password'), join(to, 'postgres-password'));
  execFileSync('cp', ['-Rp', toData(from), toData(to)]);
}

function toData(dataDir) {
  return join(reachableDirectory(dataDir, 'postgres'), 'data');
}

function majorOfData(dataDir) {
  const file = join(toData(dataDir), 'PG_VERSION');
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined;
}

function majorOfPrograms(directory) {
  return /(\d+)/.exec(execFileSync(join(directory, 'postgres'), ['--version']).toString())[1];
}

function serverOwner() {
  if (process.getuid?.() !== 0) return {};
  const accounts = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
  const [, , uid, gid] = accounts.find(([name]) => name === 'postgres') ?? accounts.find(([name]) => name === 'nobody');
  return { uid: Number(uid), gid: Number(gid) };
}

/**
 * The directory of `postgres` and `initdb`, on the PATH or from the distribution's package below the data directory, and the
 * environment that they need.
 *
 * @param {string} dataDir
 * @returns {Promise<{ directory: string, env: NodeJS.ProcessEnv }>}
 */
export async function findPostgresServer(dataDir) {
  const local = postgres.findLocal({ path: process.env.PATH, dataDir: join(dataDir, 'none') });
  return local ?? postgres.fromPackages(new DebianPackages(reachableDirectory(dataDir, 'packages')));
}

export { serverOwner };
