import 'reflect-metadata';
import { createLogger, runService } from '@rondo/platform';
import { readConfig } from './config';
import { startExecutor } from './start-executor';

/** Beyond the drain time of running calls: to kill the rest, to answer them, and to close everything. */
const closingMs = 4_000;

async function main(): Promise<void> {
  const config = readConfig();
  const log = createLogger({ name: 'tool-executor', level: config.LOG_LEVEL });
  try {
    runService(await startExecutor(config, log), { log, drainTimeoutMs: config.TOOL_DRAIN_S * 1_000 + closingMs });
  } catch (error) {
    log.fatal({ error }, 'tool executor could not start');
    process.exit(1);
  }
}

void main();
