import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { type MicroserviceOptions, Transport } from '@nestjs/microservices';
import { natsTransportOptions, untilSubscribed } from '@rondo/messaging';
import { reapDeadEveryMs } from '@rondo/persistence';
import { type Logger, PeriodicTask, nestLogger } from '@rondo/platform';
import { CompactionProcessor } from './compaction.processor';
import type { Config } from './config';
import { ActiveCompactions } from './active-compactions';
import { Resources } from './resources';
import { SummarizerModule } from './summarizer.module';

export type Summarizer = Pick<INestApplication, 'getUrl' | 'close'>;

/** The scribe: folds what a thread has outgrown into summaries. HTTP is for health and metrics only. */
export async function startSummarizer(config: Config, log: Logger): Promise<Summarizer> {
  const resources = await Resources.open(config, log);
  const app = await NestFactory.create(SummarizerModule.with(resources), { logger: nestLogger(log) });
  app.connectMicroservice<MicroserviceOptions>({
    transport: Transport.NATS,
    options: natsTransportOptions({ url: config.NATS_URL, name: 'summarizer' }),
  });
  const compactions = app.get(CompactionProcessor, { strict: false });
  const held = app.get(ActiveCompactions, { strict: false });

  await app.startAllMicroservices();
  await untilSubscribed(app);
  await app.listen(config.PORT, config.HOST);
  compactions.start(config.COMPACTION_CONCURRENCY);
  const { heartbeat, rollCall } = roundsOf(resources, held, log);
  heartbeat.start();
  rollCall.start();
  log.info({ url: await app.getUrl() }, 'summarizer started');

  return {
    getUrl: () => app.getUrl(),
    close: async () => {
      compactions.pause();
      held.leaveAll();
      await rollCall.stop();
      await app.close();
      await heartbeat.stop();
    },
  };
}

/** A heartbeat that fails costs a lease at worst, and then another summarizer takes the run. */
function roundsOf(resources: Resources, held: ActiveCompactions, log: Logger) {
  return {
    heartbeat: new PeriodicTask({
      everyMs: resources.config.HEARTBEAT_MS,
      work: () => held.beat(),
      failed: (error) => log.warn({ error }, 'heartbeat failed'),
    }),
    rollCall: new PeriodicTask({
      everyMs: reapDeadEveryMs,
      work: () => resources.callRoll(),
      failed: (error) => log.warn({ error }, 'roll call failed'),
    }),
  };
}
