import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { type Logger, nestLogger } from '@rondo/platform';
import type { Config } from './config';
import { Resources } from './resources';
import { SummarizerModule } from './summarizer.module';

/** The scribe: folds what a thread has outgrown into summaries. HTTP is for health and metrics only. */
export async function startSummarizer(config: Config, log: Logger): Promise<INestApplication> {
  const resources = await Resources.open(config, log);
  const app = await NestFactory.create(SummarizerModule.with(resources), { logger: nestLogger(log) });
  await app.listen(config.PORT, config.HOST);
  log.info({ url: await app.getUrl() }, 'summarizer started');
  return app;
}
