import 'reflect-metadata';
import { createLogger, runService, startService } from '@rondo/platform';
import { readConfig } from './config';
import { startSummarizer } from './start-summarizer';

async function main(): Promise<void> {
  const config = readConfig();
  const log = createLogger({ name: 'summarizer', level: config.LOG_LEVEL });
  const summarizer = await startService(() => startSummarizer(config, log), log);
  runService(summarizer, { log });
}

void main();
