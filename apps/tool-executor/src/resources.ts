import type { OnApplicationShutdown } from '@nestjs/common';
import { type NatsLink, connectNats } from '@rondo/messaging';
import type { Logger } from '@rondo/platform';
import { type Config, sandboxSettingsOf } from './config';
import type { ExecutorIdentity } from './executor-identity';
import { type SandboxProvider, createSandboxProvider } from './sandbox';

interface Given {
  readonly config: Config;
  readonly executor: ExecutorIdentity;
  readonly log: Logger;
}

/** What lives as long as the process, and is put away when no call runs any more. */
export class Resources implements OnApplicationShutdown {
  readonly config: Config;
  readonly executor: ExecutorIdentity;
  readonly log: Logger;
  readonly sandboxes: SandboxProvider;

  private constructor(
    given: Given,
    readonly nats: NatsLink,
  ) {
    this.config = given.config;
    this.executor = given.executor;
    this.log = given.log;
    this.sandboxes = createSandboxProvider(sandboxSettingsOf(given.config), given.log);
  }

  static async open(given: Given): Promise<Resources> {
    const { config, executor, log } = given;
    return new Resources(given, await connectNats({ url: config.NATS_URL, name: `tool-executor ${executor.id}`, log }));
  }

  /** Rejects while sandboxes cannot be had, with what to do about it. */
  async checkSandboxes(): Promise<void> {
    const { usable, reason, advice } = await this.sandboxes.probe();
    if (!usable) throw new Error(`${reason ?? 'No sandbox can be booted.'} ${advice ?? ''}`.trim());
  }

  /** The name is given back last. */
  async onApplicationShutdown(): Promise<void> {
    await this.sandboxes.close();
    await this.nats.close();
    await this.executor.release();
  }
}
