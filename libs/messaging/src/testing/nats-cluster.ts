import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { owner, ownerPassword, urlFor } from '../../../../deploy/local/servers/credentials.mjs';
import { findNatsServer, toUsers } from '../../../../deploy/local/servers/nats-server.mjs';
import { connect } from 'nats';
import { natsLogin } from '../connection/nats-login';
import { freePorts } from './free-ports';

/** PEM files with which the servers insist on TLS. */
export interface TlsFiles {
  readonly ca: string;
  readonly certificate: string;
  readonly key: string;
}

/** A server of the cluster, which can be killed and started again on its port and with its store. */
class Node {
  private child: ChildProcess | undefined;

  constructor(
    readonly name: string,
    readonly port: number,
    private readonly start: () => ChildProcess,
  ) {}

  up(): void {
    this.child = this.start();
  }

  async kill(): Promise<void> {
    const { child } = this;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'close');
    child.kill('SIGKILL');
    await ended;
  }
}

export interface NatsClusterRequest {
  readonly size?: number;
  readonly tls?: TlsFiles;
  /** Where the users' passwords are; a directory of its own unless given. */
  readonly dataDir?: string;
}

/** Real NATS servers on 127.0.0.1 that keep streams together, with the users of `npm start`. */
export class NatsCluster {
  private constructor(
    private readonly directory: string,
    private readonly dataDir: string,
    readonly nodes: readonly Node[],
  ) {}

  static async start({ size = 3, tls, dataDir }: NatsClusterRequest = {}): Promise<NatsCluster> {
    const directory = mkdtempSync('/var/tmp/rondo-nats-cluster-');
    const users = toUsers(dataDir ?? directory);
    const program = await findNatsServer(join(__dirname, '../../../../.data'));
    const ports = await freePorts(2 * size);
    const [clients, routes] = [ports.slice(0, size), ports.slice(size)];
    const nodes = clients.map((port, index) => {
      const name = `n${index + 1}`;
      const store = join(directory, name);
      mkdirSync(store);
      const file = join(directory, `${name}.conf`);
      const lines = [
        `server_name: ${name}`,
        `listen: "127.0.0.1:${port}"`,
        'max_payload: 8MB',
        `jetstream { store_dir: "${store}", max_file_store: 8GB, max_memory_store: 64MB }`,
        ...(size > 1 ? [clusterLine({ own: routes[index] ?? 0, all: routes })] : []),
        ...(tls
          ? [`tls { cert_file: "${tls.certificate}", key_file: "${tls.key}", ca_file: "${tls.ca}", verify: true }`]
          : []),
      ];
      writeFileSync(file, `${lines.join('\n')}\n${users}`, { mode: 0o600 });
      const env = { PATH: process.env['PATH'], ...program.env };
      return new Node(name, port, () => spawn(program.file, ['--config', file], { env, stdio: 'ignore' }));
    });
    for (const node of nodes) node.up();
    return new NatsCluster(directory, dataDir ?? directory, nodes);
  }

  /** The URL of all nodes for a service, or for the owner, who may do everything. */
  findUrl(user: string = owner, scheme = 'nats'): string {
    const hosts = this.nodes.map(({ port }) => `127.0.0.1:${port}`).join(',');
    const owners = `${scheme}://${owner}:${ownerPassword(this.dataDir, 'nats')}@${hosts}`;
    return user === owner ? owners : urlFor(user, { dataDir: this.dataDir, server: 'nats', url: owners });
  }

  /** The server that leads this stream. */
  async findLeader(stream: string): Promise<Node> {
    const connection = await connect(natsLogin(this.findUrl()));
    try {
      const { cluster } = await (await connection.jetstreamManager()).streams.info(stream);
      return this.node(`${cluster?.leader}`);
    } finally {
      await connection.close();
    }
  }

  node(name: string): Node {
    const found = this.nodes.find((node) => node.name === name);
    if (!found) throw new Error(`no node ${name}`);
    return found;
  }

  async stop(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.kill()));
    rmSync(this.directory, { recursive: true, force: true });
  }
}

const clusterLine = ({ own, all }: { own: number; all: readonly number[] }): string =>
  `cluster { name: rondo, listen: "127.0.0.1:${own}", routes: [${all.map((port) => `"nats://127.0.0.1:${port}"`).join(', ')}] }`;
