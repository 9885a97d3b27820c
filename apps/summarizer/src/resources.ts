import type { OnApplicationShutdown } from '@nestjs/common';
import { type NatsLink, connectNats } from '@rondo/messaging';
import { type Database, openDatabase } from '@rondo/persistence';
import type { Logger } from '@rondo/platform';
import type { Config } from './config';

/** What lives as long as the process, and is put away when no job is in hand any more. */
export class Resources implements OnApplicationShutdown {
  private constructor(
    readonly config: Config,
    readonly nats: NatsLink,
    readonly database: Database,
  ) {}

  static async open(config: Config, log: Logger): Promise<Resources> {
    const nats = await connectNats({ url: config.NATS_URL, name: 'summarizer', log });
    const database = openDatabase({ url: config.DATABASE_URL, poolSize: config.DATABASE_POOL_SIZE });
    return new Resources(config, nats, database);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.nats.close();
    await this.database.close();
  }
}
