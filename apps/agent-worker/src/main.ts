import 'reflect-metadata';
import { createLogger, runService, startService } from '@rondo/platform';
import { readConfig } from './config';
import { startAgentWorker } from './start-agent-worker';

/** After the drain, closing the connections takes moments. */
const closeTimeoutMs = 4_000;

async function main(): Promise<void> {
  const config = readConfig();
  const log = createLogger({ name: 'agent-worker', level: config.LOG_LEVEL });
  const worker = await startService(() => startAgentWorker(config, log), log);
  runService(worker, { log, drain: worker.drain, drainTimeoutMs: config.DRAIN_MS + closeTimeoutMs });
}

void main();
