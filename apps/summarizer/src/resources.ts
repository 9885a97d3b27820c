import type { OnApplicationShutdown } from '@nestjs/common';
import { type BudgetOf, budgetsOf } from '@rondo/domain';
import { type Models, TiktokenCounter, createModels } from '@rondo/llm';
import { type NatsLink, NatsRunFeed, RunQueues, connectNats, producerConnection } from '@rondo/messaging';
import { type Database, Outbox, PostgresRunStore, openDatabase } from '@rondo/persistence';
import { type Logger, newUlid } from '@rondo/platform';
import { type Config, readModelProviders } from './config';

/** What lives as long as the process, and is put away when no job is in hand any more. */
export class Resources implements OnApplicationShutdown {
  readonly database: Database;
  readonly feed: NatsRunFeed;
  readonly queues: RunQueues;
  readonly store: PostgresRunStore;
  readonly models: Models;
  readonly budgetOf: BudgetOf;
  readonly tokens = new TiktokenCounter();
  private readonly outbox: Outbox;

  private constructor(
    readonly config: Config,
    readonly nats: NatsLink,
    private readonly log: Logger,
  ) {
    this.database = openDatabase({
      url: config.DATABASE_URL,
      poolSize: config.DATABASE_POOL_SIZE,
      presentAs: config.SUMMARIZER_ID,
      log,
    });
    this.feed = new NatsRunFeed(nats);
    this.queues = new RunQueues({ connection: producerConnection(config.REDIS_URL), log });
    this.outbox = new Outbox(this.database);
    this.store = new PostgresRunStore({
      database: this.database,
      mint: newUlid,
      queue: 'compactions',
      leaseMs: config.LEASE_MS,
    });
    const providers = readModelProviders();
    this.models = createModels(providers);
    this.budgetOf = budgetsOf(providers);
  }

  static async open(config: Config, log: Logger): Promise<Resources> {
    const nats = await connectNats({ url: config.NATS_URL, name: 'summarizer', log });
    return new Resources(config, nats, log);
  }

  /** Brings what was committed to the queues. While they are away nothing is lost: a worker's round does it. */
  async relay(): Promise<void> {
    try {
      await this.outbox.publish(({ topic, payload: { run_id: runId, thread_id: threadId, activation } }) =>
        this.queues.add(topic, { runId, threadId, activation }),
      );
    } catch (error) {
      this.log.warn({ error }, 'outbox not published');
    }
  }

  /** Workers that died are missed here too: their successors find the runs in the queue when they come. */
  async callRoll(): Promise<void> {
    if ((await this.store.reapDead()) > 0) await this.relay();
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([this.queues.close(), this.nats.close()]);
    await this.database.close();
  }
}
