import type { OnApplicationShutdown } from '@nestjs/common';
import { type NatsLink, connectNats } from '@rondo/messaging';
import type { Logger } from '@rondo/platform';
import { type Config, sandboxSettingsOf } from './config';
import type { ExecutorIdentity } from './executor-identity';
import { type SandboxProvider, createSandboxProvider } from './sandboxes';
import { SandboxSlots } from './sandboxes/sandbox-slots';

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
  readonly places: SandboxSlots;

  private constructor(
    given: Given,
    readonly nats: NatsLink,
  ) {
    this.config = given.config;
    this.executor = given.executor;
    this.log = given.log;
    this.sandboxes = createSandboxProvider(sandboxSettingsOf(given.config), given.log);
    this.places = new SandboxSlots(given.config.SANDBOX_MAX, this.sandboxes, given.log);
  }

  static async open(given: Given): Promise<Resources> {
    const { config, executor, log } = given;
    const name = `tool-executor ${executor.id}`;
    return new Resources(given, await connectNats({ url: config.NATS_URL, name, log, makesStreams: false }));
  }

  /** Why no sandbox can be had, with what to do about it; undefined when they can. */
  async sandboxProblem(): Promise<string | undefined> {
    try {
      const { usable, reason, advice } = await this.sandboxes.probe();
      return usable ? undefined : `${reason ?? 'No sandbox can be booted.'} ${advice ?? ''}`.trim();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.log.warn({ usable: false, reason }, 'sandboxes unavailable');
      return reason;
    }
  }

  /** The name is given back last. */
  async onApplicationShutdown(): Promise<void> {
    await this.sandboxes.close();
    await this.nats.close();
    await this.executor.release();
  }
}
