import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { executorId, urlFor } from '../../../../deploy/local/servers/credentials.mjs';
import { type Infrastructure, startInfrastructure } from '../../../../deploy/local/servers/infrastructure.mjs';

/** A NATS server for one spec, which can be killed and given another store. */
export class OwnNatsServer {
  private constructor(
    private readonly directory: string,
    private readonly infrastructure: Infrastructure,
  ) {}

  static async start(): Promise<OwnNatsServer> {
    const directory = mkdtempSync('/var/tmp/rondo-nats-');
    const { PATH } = process.env;
    const packagesDirectory = join(__dirname, '../../../../.data');
    const infrastructure = await startInfrastructure({
      dataDir: directory,
      packagesDirectory,
      env: { PATH },
      want: ['nats'],
    });
    return new OwnNatsServer(directory, infrastructure);
  }

  get url(): string {
    return this.infrastructure.env.NATS_URL ?? '';
  }

  /** The id of its first executor, which is also the name of that user. */
  get executorId(): string {
    return executorId(this.directory, 'tool-executor');
  }

  /** The URL for a service or an executor: with its own password, under its own permissions. */
  findUrl(user: string): string {
    return urlFor(user, { dataDir: this.directory, server: 'nats', url: this.url });
  }

  /** A copy of the store, once `isComplete` accepts it: the server writes a moment after it has confirmed. */
  async copyOfStore(isComplete: (text: string) => boolean): Promise<StoreCopy> {
    const copy = join(this.directory, `copy-${process.hrtime.bigint()}`);
    for (;;) {
      cpSync(this.store, copy, { recursive: true });
      if (isComplete(textBelow(copy))) return { path: copy };
      rmSync(copy, { recursive: true });
      await sleep(20);
    }
  }

  async restart(): Promise<void> {
    await this.infrastructure.get('nats').kill();
    await this.infrastructure.get('nats').start();
  }

  /** Simulates a power loss: the server restarts with an older state of its store. */
  async restartWith({ path }: StoreCopy): Promise<void> {
    await this.infrastructure.get('nats').kill();
    rmSync(this.store, { recursive: true });
    cpSync(path, this.store, { recursive: true });
    await this.infrastructure.get('nats').start();
  }

  async stop(): Promise<void> {
    await this.infrastructure.stop();
    rmSync(this.directory, { recursive: true, force: true });
  }

  private get store(): string {
    return join(this.directory, 'nats', 'jetstream');
  }
}

export interface StoreCopy {
  readonly path: string;
}

const textBelow = (directory: string): string =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n');
