import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findRedisServer } from '../../../../deploy/local/servers/redis-server.mjs';
import { openRedis } from '../queues/redis-connections';
import { freePorts } from './free-ports';

/** Real Redis servers for one spec, which stop with it. Each gets lines of configuration beside its port. */
export class RedisServers {
  readonly directory = mkdtempSync('/var/tmp/rondo-redis-');
  private readonly parameters = new Map<number, readonly string[]>();
  private readonly children = new Map<number, ChildProcess>();

  private constructor(private readonly program: { readonly file: string; readonly env: NodeJS.ProcessEnv }) {}

  static async open(): Promise<RedisServers> {
    return new RedisServers(await findRedisServer(join(__dirname, '../../../../.data')));
  }

  /** A primary with one replica, a user named `worker` besides the usual one, and three sentinels that call the primary `rondo`. */
  async startSentinels(password: string): Promise<{ primary: number; sentinels: readonly number[] }> {
    const [primary = 0, replica = 0, ...sentinels] = await freePorts(5);
    const data = [`requirepass ${password}`, `masterauth ${password}`, `user worker on >${password} ~* &* +@all`];
    this.start(primary, [`port ${primary}`, ...data]);
    this.start(replica, [`port ${replica}`, ...data, `replicaof 127.0.0.1 ${primary}`]);
    for (const port of sentinels) {
      const about = [`monitor rondo 127.0.0.1 ${primary} 2`, `auth-pass rondo ${password}`];
      const times = ['down-after-milliseconds rondo 1000', 'failover-timeout rondo 3000'];
      this.start(port, [`port ${port}`, ...[...about, ...times].map((line) => `sentinel ${line}`)], ['--sentinel']);
    }
    return { primary, sentinels };
  }

  /** Which server this sentinel takes for the primary now. */
  async findPrimary(sentinel: number): Promise<number> {
    const client = openRedis(`redis://127.0.0.1:${sentinel}`, 2_000);
    client.on('error', () => undefined);
    if (client.status !== 'ready') await once(client, 'ready');
    const address = await client.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', 'rondo');
    client.disconnect();
    return Number((address as [string, string])[1]); // host and port
  }

  start(port: number, lines: readonly string[], parameters: readonly string[] = []): void {
    const directory = join(this.directory, `${port}`);
    mkdirSync(directory);
    const file = join(directory, 'redis.conf');
    writeFileSync(file, [`bind 127.0.0.1`, `dir "${directory}"`, ...lines, ''].join('\n'), { mode: 0o600 });
    this.parameters.set(port, [file, ...parameters]);
    this.startAgain(port);
  }

  /** With its data, and with what it has written into its configuration since. */
  startAgain(port: number): void {
    const env = { PATH: process.env['PATH'], ...this.program.env };
    this.children.set(port, spawn(this.program.file, this.parameters.get(port) ?? [], { env, stdio: 'ignore' }));
  }

  async kill(port: number): Promise<void> {
    const child = this.children.get(port);
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'close');
    child.kill('SIGKILL');
    await ended;
  }

  async stop(): Promise<void> {
    await Promise.all([...this.children.keys()].map((port) => this.kill(port)));
    rmSync(this.directory, { recursive: true, force: true });
  }
}
