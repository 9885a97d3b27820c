import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { type MicroserviceOptions, Transport } from '@nestjs/microservices';
import { natsTransportOptions, untilSubscribed } from '@rondo/messaging';
import { type Logger, nestLogger } from '@rondo/platform';
import { AbandonedError } from '@rondo/run-holder';
import { Registry } from 'prom-client';
import { type Summarizer, compose } from './compose';
import type { Config } from './config';
import { SummarizerModule } from './summarizer.module';

/** Replaces messages that no longer fit a context by summaries. HTTP is for health and metrics only. */
export async function startSummarizer(
  config: Config,
  log: Logger,
): Promise<Pick<INestApplication, 'getUrl' | 'close'>> {
  const summarizer = await compose(config, log);
  const app = await NestFactory.create(SummarizerModule.with(summarizer), { logger: nestLogger(log) });
  app.connectMicroservice<MicroserviceOptions>({
    transport: Transport.NATS,
    options: natsTransportOptions({ url: config.NATS_URL, name: 'summarizer' }),
  });
  summarizer.metrics.registerOn(app.get(Registry));
  summarizer.modelMetrics.registerOn(app.get(Registry));

  await app.startAllMicroservices();
  await untilSubscribed(app);
  await app.listen(config.PORT, config.HOST);
  summarizer.processor.start(config.COMPACTION_CONCURRENCY);
  summarizer.heartbeat.start();
  summarizer.maintenance.start();
  summarizer.titles.start();
  log.info({ url: await app.getUrl() }, 'summarizer started');

  return { getUrl: () => app.getUrl(), close: () => shutDown(summarizer, app) };
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
