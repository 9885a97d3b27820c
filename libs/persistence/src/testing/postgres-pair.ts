import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, type Server, type Socket, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { postgresPrograms } from '../../../../deploy/local/servers/postgres-programs.mjs';
import { findPostgresServer, serverOwner } from '../../../../deploy/local/servers/postgres-server.mjs';

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

interface Started {
  readonly port: number;
  readonly child: ChildProcess;
}

export interface PostgresPairRequest {
  /** Below it lie Debian's packages, where no server is installed. */
  readonly dataDir: string;
  /** The primary waits for its replica. */
  readonly isSynchronous: boolean;
  /** Of the owner, `rondo`. */
  readonly password?: string;
}

/** A real primary and its replica, reached by one address. */
export class PostgresPair {
  private primary: Started | undefined;
  private replica: Started | undefined;
  private made = 0;

  private constructor(
    private readonly programs: Programs,
    private readonly request: PostgresPairRequest,
    private readonly switches: { readonly clients: Switch; readonly replication: Switch },
    private readonly directory = mkdtempSync(join(tmpdir(), 'postgres-pair-')),
  ) {
    chmodSync(directory, 0o777);
  }

  static async start(request: PostgresPairRequest): Promise<PostgresPair> {
    const programs = await findPostgresServer(request.dataDir);
    const [clients, replication] = [await Switch.open(), await Switch.open()];
    const pair = new PostgresPair(programs, request, { clients, replication });
    try {
      await pair.startPrimary();
      await pair.addReplica(request.isSynchronous);
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

  /** Kills the primary, which is never started again, and promotes the replica `afterMs` later. */
  async failOver(afterMs = 0): Promise<void> {
    const { primary, replica } = this;
    if (!primary || !replica) throw new Error('there is no replica');
    await kill(primary.child);
    this.switches.clients.pointTo();
    await sleep(afterMs);
    await withClient(this.findUrl(replica.port), (client) => client.query('select pg_promote(true, 30)'));
    this.switches.clients.pointTo(replica.port);
    [this.primary, this.replica] = [replica, undefined];
  }

  /** Makes a replica of the server that is the primary now. */
  async addReplica(isSynchronous: boolean): Promise<void> {
    const { primary } = this;
    const { replication } = this.switches;
    if (!primary) throw new Error('there is no primary');
    replication.pointTo(primary.port);
    const data = this.newDirectory();
    await this.copy(primary.port, data);
    writeFileSync(join(data, 'standby.signal'), '');
    const from = `host=127.0.0.1 port=${replication.port} user=rondo password=${this.password} application_name=replica`;
    this.replica = await this.run(data, [`primary_conninfo=${from}`]);
    await withClient(this.findUrl(primary.port), async (client) => {
      while (!(await client.query(`select from pg_stat_replication where state = 'streaming'`)).rowCount)
        await sleep(pollMs);
      if (!isSynchronous) return;
      await client.query(`alter system set synchronous_standby_names = 'replica'`);
      await client.query('select pg_reload_conf()');
      while (!(await client.query(`select from pg_stat_replication where sync_state = 'sync'`)).rowCount)
        await sleep(pollMs);
    });
  }

  async close(): Promise<void> {
    for (const server of [this.primary, this.replica]) if (server) await kill(server.child);
    await this.switches.clients.close();
    await this.switches.replication.close();
    rmSync(this.directory, { recursive: true, force: true });
  }

  private get password(): string {
    return this.request.password ?? 'of-a-pair';
  }

  private newDirectory(): string {
    return join(this.directory, `server-${(this.made += 1)}`);
  }

  private findUrl(port: number): string {
    return `postgresql://rondo:${this.password}@127.0.0.1:${port}/postgres`;
  }

  private async startPrimary(): Promise<void> {
    const data = this.newDirectory();
    const passwordFile = join(this.directory, 'password');
    writeFileSync(passwordFile, this.password, { mode: 0o644 });
    const login = ['-U', 'rondo', '--pwfile', passwordFile, '-A', 'scram-sha-256'];
    await this.asOwner(this.programs, 'initdb', ['-D', data, ...login, '-N', '--no-locale', '-E', 'UTF8']);
    writeFileSync(join(data, 'pg_hba.conf'), 'host all,replication all 127.0.0.1/32 scram-sha-256\n');
    this.primary = await this.run(data);
    this.switches.clients.pointTo(this.primary.port);
  }

  /** Before the primary is told to wait for it: so the copy will not wait for a replica of its own once it is promoted. */
  private async copy(port: number, data: string): Promise<void> {
    const packages = { path: process.env['PATH'], packagesDirectory: this.request.dataDir };
    const { directory, env } = await postgresPrograms(packages);
    const from = ['-h', '127.0.0.1', '-p', String(port), '-U', 'rondo', '--checkpoint=fast', '--no-sync'];
    await this.asOwner({ directory, env: { ...env, PGPASSWORD: this.password } }, 'pg_basebackup', [
      ...from,
      '-D',
      data,
    ]);
  }

  private async run(data: string, more: readonly string[] = []): Promise<Started> {
    const port = await findPort();
    const all = [
      ...more,
      `port=${port}`,
      'listen_addresses=127.0.0.1',
      'unix_socket_directories=',
      'max_connections=200',
      'wal_keep_size=256MB',
      'jit=off',
    ];
    const { directory, env } = this.programs;
    const child = spawn(join(directory, 'postgres'), ['-D', data, ...all.flatMap((setting) => ['-c', setting])], {
      cwd: data,
      env: { ...process.env, ...env },
      stdio: 'ignore',
      ...serverOwner(),
    });
    while (!(await withClient(this.findUrl(port), () => Promise.resolve(true)).catch(() => false))) {
      if (child.exitCode !== null) throw new Error(`${data} does not start`);
      await sleep(pollMs);
    }
    return { port, child };
  }

  private async asOwner({ directory, env }: Programs, program: string, args: readonly string[]): Promise<void> {
    const options = { cwd: this.directory, env: { ...process.env, ...env }, ...serverOwner() };
    await promisify(execFile)(join(directory, program), args, options);
  }
}

async function findPort(): Promise<number> {
  const held = await Switch.open();
  const { port } = held;
  await held.close();
  return port;
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
