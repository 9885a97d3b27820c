import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export type PoolMode = 'session' | 'transaction';

/** The program, where tests have one. */
export const pgbouncer = process.env['TEST_PGBOUNCER'];
/** It refuses to run as root. */
const unprivileged = 65_534;

/** A real PgBouncer in front of a database, with its own defaults but for the mode. */
export class PgBouncer {
  private constructor(
    readonly url: string,
    private readonly child: ChildProcess,
    private readonly directory: string,
  ) {}

  static async readInFront(databaseUrl: string, mode: PoolMode): Promise<PgBouncer> {
    if (pgbouncer === undefined) throw new Error('TEST_PGBOUNCER must name the program.');
    const { hostname, port, username, password, pathname } = new URL(databaseUrl);
    const directory = await mkdtemp(join(tmpdir(), 'pgbouncer-'));
    await chmod(directory, 0o755);
    const listenPort = await freePort();
    const login = [`user=${username}`, ...(password ? [`password=${decodeURIComponent(password)}`] : [])];
    const lines = [
      '[databases]',
      `${pathname.slice(1)} = ${[`host=${hostname}`, `port=${port}`, ...login].join(' ')}`,
      '[pgbouncer]',
      ...['listen_addr = 127.0.0.1', `listen_port = ${listenPort}`, 'unix_socket_dir =', 'auth_type = any'],
      `pool_mode = ${mode}`,
    ];
    await writeFile(join(directory, 'pgbouncer.ini'), lines.join('\n'));
    const asUnprivileged = process.getuid?.() === 0 ? { uid: unprivileged, gid: unprivileged } : {};
    const child = spawn(pgbouncer, [join(directory, 'pgbouncer.ini')], {
      ...asUnprivileged,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    await waitUntilUp(child);
    return new PgBouncer(Object.assign(new URL(databaseUrl), { port: listenPort }).href, child, directory);
  }

  async close(): Promise<void> {
    const ended = once(this.child, 'close');
    if (this.child.exitCode === null && this.child.signalCode === null) {
      this.child.kill('SIGKILL');
      await ended;
    }
    await rm(this.directory, { recursive: true });
  }
}

/** Rejects with what it has written when it ends instead. */
async function waitUntilUp(child: ChildProcess): Promise<void> {
  let log = '';
  const up = new Promise<void>((resolve) => {
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      log += text;
      if (log.includes('process up')) resolve();
    });
  });
  const ended = once(child, 'close').then(() => {
    throw new Error(`pgbouncer has ended: ${log}`);
  });
  await Promise.race([up, ended]);
  ended.catch(() => undefined); // It is stopped later.
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (typeof address !== 'object' || !address) throw new Error('no port');
  return address.port;
}
