import 'reflect-metadata';
import { createLogger, runService, startService } from '@rondo/platform';
import { readConfig, toShutdownMs } from './config';
import { startExecutor } from './start-executor';

async function main(): Promise<void> {
  const config = readConfig();
  const log = createLogger({ name: 'tool-executor', level: config.LOG_LEVEL });
  const executor = await startService(() => startExecutor(config, log), log);
  runService(executor, { log, drainTimeoutMs: toShutdownMs(config) });
}

void main();
