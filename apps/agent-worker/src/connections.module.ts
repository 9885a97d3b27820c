import { Global, Module, type OnApplicationShutdown, Inject } from '@nestjs/common';
import { ClientProxyFactory, Transport, type ClientProxy } from '@nestjs/microservices';
import { type Models, createModels } from '@rondo/llm';
import { NatsLink, RunQueues, connectNats, natsTransportOptions, producerConnection } from '@rondo/messaging';
import { type Database, openDatabase } from '@rondo/persistence';
import { type Logger, createLogger } from '@rondo/platform';
import { config, modelProviders } from './config';

export const DATABASE = Symbol('DATABASE');
export const EXECUTORS = Symbol('EXECUTORS');
export const LOG = Symbol('LOG');
export const MODELS = Symbol('MODELS');

const name = 'agent-worker';

/** Workers alone may make the streams of tool calls. */
async function connectToNats(log: Logger): Promise<NatsLink> {
  const nats = await connectNats({ url: config.NATS_URL, name, log });
  nats.toolStreams.keep();
  return nats;
}

/** What this process is connected to. Closed last, when nothing runs any more that could use it. */
@Global()
@Module({
  providers: [
    { provide: LOG, useFactory: (): Logger => createLogger({ name, level: config.LOG_LEVEL }) },
    {
      provide: DATABASE,
      inject: [LOG],
      useFactory: (log: Logger) =>
        openDatabase({
          url: config.DATABASE_URL,
          poolSize: config.DATABASE_POOL_SIZE,
          presentAs: config.WORKER_ID,
          log,
        }),
    },
    { provide: NatsLink, inject: [LOG], useFactory: connectToNats },
    {
      provide: RunQueues,
      inject: [LOG],
      useFactory: (log: Logger) => new RunQueues({ connection: producerConnection(config.REDIS_URL), log }),
    },
    {
      provide: EXECUTORS,
      useFactory: () =>
        ClientProxyFactory.create({
          transport: Transport.NATS,
          options: natsTransportOptions({ url: config.NATS_URL, name }),
        }),
    },
    { provide: MODELS, useFactory: (): Models => createModels(modelProviders) },
  ],
  exports: [LOG, DATABASE, NatsLink, RunQueues, EXECUTORS, MODELS],
})
export class ConnectionsModule implements OnApplicationShutdown {
  constructor(
    @Inject(DATABASE) private readonly database: Database,
    private readonly nats: NatsLink,
    private readonly queues: RunQueues,
    @Inject(EXECUTORS) private readonly executors: ClientProxy,
  ) {}

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([this.queues.close(), this.executors.close(), this.nats.close()]);
    await this.database.close();
  }
}
