import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, type Server, type Socket, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { findPostgresServer, serverOwner } from '../../../../deploy/local/postgres-server.mjs';

const password = 'of-a-pair';
const replica = 'replica';
const pollMs = 50;

/** Forwards connections to a port that can be changed, as the proxy or name in front of a replicated database does. */
class Switch {
  private readonly sockets = new Set<Socket>();
  private target: number | undefined;

  private constructor(private readonly server: Server) {
    server.on('connection', (near: Socket) => {
      if (this.target === undefined) return void near.destroy();
      const far = connect(this.target, '127.0.0.1');
      for (const [one, other] of [
        [near, far],
        [far, near],
      ] as const) {
        this.sockets.add(one.setNoDelay());
        one
          .on('error', () => undefined)
          .on('close', () => {
            this.sockets.delete(one);
            other.destroy();
          });
      }
      near.pipe(far).pipe(near);
    });
  }

  static async open(): Promise<Switch> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new Switch(server);
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port; // it listens on TCP
  }

  /** To nowhere without a port. Cuts what is connected. */
  pointTo(port?: number): void {
    this.target = port;
    for (const socket of this.sockets) socket.destroy();
  }

  async close(): Promise<void> {
    this.pointTo();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

interface Programs {
  readonly directory: string;
  readonly env: NodeJS.ProcessEnv;
}

/** A real primary and its replica, reached by one address. */
export class PostgresPair {
  private readonly children: ChildProcess[] = [];

  private constructor(
    private readonly programs: Programs,
    private readonly directory: string,
    private readonly ports: { readonly primary: number; readonly replica: number },
    private readonly switches: { readonly clients: Switch; readonly replication: Switch },
  ) {}

  /** `dataDir`: below it lie Debian's packages, where no server is installed. Synchronous: the primary waits for its replica. */
  static async start({ dataDir, isSynchronous }: { dataDir: string; isSynchronous: boolean }): Promise<PostgresPair> {
    const programs = await findPostgresServer(dataDir);
    const directory = mkdtempSync(join(tmpdir(), 'postgres-pair-'));
    chmodSync(directory, 0o777);
    const [clients, replication] = [await Switch.open(), await Switch.open()];
    const pair = new PostgresPair(programs, directory, await findPorts(), { clients, replication });
    try {
      await pair.initialize(isSynchronous);
    } catch (error) {
      await pair.close();
      throw error;
    }
    return pair;
  }

  /** Of whichever server is the primary now. */
  get url(): string {
    return this.findUrl(this.switches.clients.port);
  }

  /** From now on the primary writes what the replica does not get. A synchronous one writes nothing any more. */
  stopReplication(): void {
    this.switches.replication.pointTo();
  }

  /** Kills the primary, which is never started again, and promotes the replica. */
  async failOver(): Promise<void> {
    this.switches.clients.pointTo();
    const [primary] = this.children;
    if (primary) await kill(primary);
    await withClient(this.findUrl(this.ports.replica), (client) => client.query('select pg_promote(true, 30)'));
    this.switches.clients.pointTo(this.ports.replica);
  }

  async close(): Promise<void> {
    await Promise.all(this.children.map(kill));
    await this.switches.clients.close();
    await this.switches.replication.close();
    rmSync(this.directory, { recursive: true, force: true });
  }

  private findUrl(port: number): string {
    return `postgresql://rondo:${password}@127.0.0.1:${port}/postgres`;
  }

  private async initialize(isSynchronous: boolean): Promise<void> {
    const [primary, copy] = [join(this.directory, 'primary'), join(this.directory, replica)];
    const passwordFile = join(this.directory, 'password');
    writeFileSync(passwordFile, password, { mode: 0o644 });
    this.asOwner('initdb', [
      '-D',
      primary,
      '-U',
      'rondo',
      '--pwfile',
      passwordFile,
      '-A',
      'scram-sha-256',
      '-N',
      '--no-locale',
      '-E',
      'UTF8',
    ]);
    writeFileSync(join(primary, 'pg_hba.conf'), 'host all,replication all 127.0.0.1/32 scram-sha-256\n');
    cpSync(primary, copy, { recursive: true, preserveTimestamps: true });
    this.giveToOwner(copy);
    writeFileSync(join(copy, 'standby.signal'), '');
    const { replication, clients } = this.switches;
    const from = `host=127.0.0.1 port=${replication.port} user=rondo password=${password} application_name=${replica}`;
    const first = ['wal_keep_size=256MB', ...(isSynchronous ? [`synchronous_standby_names=${replica}`] : [])];
    await this.run(primary, this.ports.primary, first);
    replication.pointTo(this.ports.primary);
    await this.run(copy, this.ports.replica, ['hot_standby=on', `primary_conninfo=${from}`]);
    clients.pointTo(this.ports.primary);
    await this.awaitReplica();
  }

  private async awaitReplica(): Promise<void> {
    await withClient(this.url, async (client) => {
      for (;;) {
        const { rowCount } = await client.query(`select from pg_stat_replication where state = 'streaming'`);
        if (rowCount) return;
        await sleep(pollMs);
      }
    });
  }

  private async run(data: string, port: number, settings: readonly string[]): Promise<void> {
    const all = [...settings, `port=${port}`, 'listen_addresses=127.0.0.1', 'unix_socket_directories=', 'jit=off'];
    const args = ['-D', data, ...all.flatMap((setting) => ['-c', setting])];
    const { directory, env } = this.programs;
    const child = spawn(join(directory, 'postgres'), args, {
      cwd: data,
      env: { ...process.env, ...env },
      stdio: 'ignore',
      ...serverOwner(),
    });
    this.children.push(child);
    while (!(await withClient(this.findUrl(port), () => Promise.resolve(true)).catch(() => false))) {
      if (child.exitCode !== null) throw new Error(`${data} does not start`);
      await sleep(pollMs);
    }
  }

  private asOwner(program: string, args: readonly string[]): void {
    const { directory, env } = this.programs;
    execFileSync(join(directory, program), args, {
      cwd: this.directory,
      env: { ...process.env, ...env },
      stdio: 'ignore',
      ...serverOwner(),
    });
  }

  private giveToOwner(path: string): void {
    const { uid, gid } = serverOwner();
    if (uid !== undefined) execFileSync('chown', ['-R', `${uid}:${gid}`, path]);
    chmodSync(path, 0o700);
  }
}

async function findPorts(): Promise<{ primary: number; replica: number }> {
  const [one, other] = [await Switch.open(), await Switch.open()];
  const ports = { primary: one.port, replica: other.port };
  await one.close();
  await other.close();
  return ports;
}

/** The postmaster's children end when they notice that it is gone. */
async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'close');
  child.kill('SIGKILL');
  await ended;
}

async function withClient<T>(url: string, use: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined); // its server is killed
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}
