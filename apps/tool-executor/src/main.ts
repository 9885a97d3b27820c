import 'reflect-metadata';
import { createLogger, runService } from '@rondo/platform';
import { readConfig, toShutdownMs } from './config';
import { startExecutor } from './start-executor';

async function main(): Promise<void> {
  const config = readConfig();
  const log = createLogger({ name: 'tool-executor', level: config.LOG_LEVEL });
  try {
    runService(await startExecutor(config, log), { log, drainTimeoutMs: toShutdownMs(config) });
  } catch (error) {
    log.fatal({ error }, 'tool executor could not start');
    process.exit(1);
  }
}

void main();
