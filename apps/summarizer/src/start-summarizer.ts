import { BullModule } from '@nestjs/bullmq';
import {
  type DynamicModule,
  type INestApplication,
  type OnApplicationShutdown,
  Controller,
  Module,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { type MicroserviceOptions, Ctx, EventPattern, NatsContext, Payload, Transport } from '@nestjs/microservices';
import {
  type MessageHeaders,
  BoundedCloseWorker,
  announceRunHolder,
  natsTransportOptions,
  signals,
  findStopSignal,
  untilSubscribed,
  workerConnection,
} from '@rondo/messaging';
import { refuseNewerSchema } from '@rondo/persistence';
import { type Logger, HealthModule, MetricsModule, answerProbesWhile, nestLogger, repeatOnGrid } from '@rondo/platform';
import { AbandonedError, ActiveRuns } from '@rondo/run-holder';
import { Registry } from 'prom-client';
import { CompactionProcessor } from './compaction.processor';
import { type Summarizer, compose } from './compose';
import type { Config } from './config';

/** Replaces messages that no longer fit a context by summaries. HTTP is for health and metrics only. */
export async function startSummarizer(
  config: Config,
  log: Logger,
): Promise<Pick<INestApplication, 'getUrl' | 'close'>> {
  const { summarizer, app } = await answerProbesWhile({ ...config, dependency: 'nats' }, () => prepare(config, log));
  await app.listen(config.PORT, config.HOST);
  summarizer.processor.start(config.COMPACTION_CONCURRENCY);
  summarizer.heartbeat.start();
  summarizer.maintenance.start();
  summarizer.titles.start();
  const leave = announceRunHolder(
    summarizer.nats,
    { id: config.SUMMARIZER_ID, service: 'summarizer' },
    { repeat: repeatOnGrid },
  );
  log.info({ url: await app.getUrl() }, 'summarizer started');

  return {
    getUrl: () => app.getUrl(),
    close: () => {
      leave();
      return shutDown(summarizer, app);
    },
  };
}

/** Resolves once NATS is there and has the subscriptions. */
async function prepare(config: Config, log: Logger) {
  const summarizer = await compose(config, log);
  await refuseNewerSchema(summarizer.database);
  await summarizer.queues.refuseClusterMode();
  const app = await NestFactory.create(SummarizerModule.with(summarizer), { logger: nestLogger(log) });
  app.connectMicroservice<MicroserviceOptions>({
    transport: Transport.NATS,
    options: natsTransportOptions({ url: config.NATS_URL, name: 'summarizer' }),
  });
  summarizer.metrics.registerOn(app.get(Registry));
  summarizer.factMetrics.registerOn(app.get(Registry));
  summarizer.modelMetrics.registerOn(app.get(Registry));

  await app.startAllMicroservices();
  await untilSubscribed(app);
  return { summarizer, app };
}

/** Releases its runs to other summarizers. The heartbeat ends last: it renews the leases until then. */
async function shutDown(summarizer: Summarizer, app: INestApplication): Promise<void> {
  const { processor, activeRuns, heartbeat, maintenance, titles, titler } = summarizer;
  processor.pause();
  activeRuns.drain();
  activeRuns.abandonAll(new AbandonedError('the summarizer is shutting down'));
  titler.stop();
  await Promise.all([maintenance.stop(), titles.stop()]);
  await app.close();
  await heartbeat.stop();
}

BullModule.workerClass = BoundedCloseWorker;

/** Stops a run that waits for its summary. If the signal is lost, the heartbeat finds the request in Postgres. */
@Controller()
class StopSignalController {
  constructor(private readonly activeRuns: ActiveRuns) {}

  @EventPattern(signals.stop.pattern)
  stop(@Payload() payload: unknown, @Ctx() context: NatsContext): void {
    const request = findStopSignal(payload, context.getHeaders() as MessageHeaders); // Nest passes the client's headers on
    if (request) this.activeRuns.stop(request.runId, request.stop);
  }
}

/** Closes the connections last, when no job is processed any more that could use them. */
class Lifecycle implements OnApplicationShutdown {
  constructor(private readonly summarizer: Summarizer) {}

  async onApplicationShutdown(): Promise<void> {
    await this.summarizer.close();
  }
}

/** The composed values that Nest uses: the job processor, the stop signal, health and metrics. */
@Module({})
class SummarizerModule {
  static with(summarizer: Summarizer): DynamicModule {
    const { config, nats, database, queues: runQueues, queueProbe } = summarizer;
    return {
      module: SummarizerModule,
      imports: [
        BullModule.forRoot({ connection: workerConnection(config.REDIS_URL) }),
        BullModule.registerQueue(), // without a queue: it makes Nest look for processors
        MetricsModule.register(config),
        HealthModule.register({
          postgres: () => database.ping(),
          redis: () => runQueues.ping(),
          nats: () => nats.ping(),
          queue: () => queueProbe.check(),
        }),
      ],
      controllers: [StopSignalController],
      providers: [
        { provide: CompactionProcessor, useValue: summarizer.processor },
        { provide: ActiveRuns, useValue: summarizer.activeRuns },
        { provide: Lifecycle, useValue: new Lifecycle(summarizer) },
      ],
    };
  }
}
