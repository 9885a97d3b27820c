import { ClientProxyFactory, Transport } from '@nestjs/microservices';
import { RunQueues, SharedQuota, connectNats, natsTransportOptions, producerConnection } from '@rondo/messaging';
import { Accounts, Blobs, IdempotencyKeys, Messages, Outbox, Runs, Threads, openDatabase } from '@rondo/persistence';
import { type Logger, newUlid } from '@rondo/platform';
import type { GatewayConfig } from '../config';
import { DeferredRunFeed } from './deferred-run-feed';
import { WorkerSignals } from './worker-signals';

const name = 'gateway';

/** The servers that this one speaks to. None of them must be there for it to start. */
export class Infrastructure {
  readonly database;
  readonly accounts;
  readonly threads;
  readonly messages;
  readonly blobs;
  readonly runs;
  readonly outbox;
  readonly idempotencyKeys;
  readonly queues;
  readonly feed;
  readonly workers;
  readonly accountRequests;

  constructor(config: GatewayConfig, log: Logger) {
    const { DATABASE_URL, DATABASE_POOL_SIZE, REDIS_URL, NATS_URL } = config;
    const threadLimits = { messages: config.THREAD_MAX_MESSAGES, bytes: config.THREAD_MAX_BYTES };
    this.database = openDatabase({ url: DATABASE_URL, poolSize: DATABASE_POOL_SIZE, log });
    this.accounts = new Accounts(this.database, newUlid);
    this.threads = new Threads(this.database, newUlid);
    this.messages = new Messages(this.database, newUlid, threadLimits);
    this.blobs = new Blobs(this.database);
    this.runs = new Runs(this.database, newUlid, threadLimits);
    this.outbox = new Outbox(this.database);
    this.idempotencyKeys = new IdempotencyKeys(this.database);
    this.queues = new RunQueues({ connection: producerConnection(REDIS_URL), log });
    this.feed = new DeferredRunFeed(connectNats({ url: NATS_URL, name, log }));

    this.accountRequests = new SharedQuota({ url: REDIS_URL, perSecond: config.ACCOUNT_RATE_LIMIT_PER_SECOND });

    const options = natsTransportOptions({ url: NATS_URL, name });
    this.workers = new WorkerSignals(ClientProxyFactory.create({ transport: Transport.NATS, options }), (error) => {
      log.warn({ error }, 'signal to the workers was lost');
    });
  }

  async close(): Promise<void> {
    this.accountRequests.close();
    await Promise.all([this.queues.close(), this.feed.close(), this.workers.close()]);
    await this.database.close();
  }
}
