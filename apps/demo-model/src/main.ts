import { once } from 'node:events';
import { pino } from 'pino';
import { readConfig } from './config';
import { startDemoModel } from './demo-model-server';

const log = pino({ name: 'demo-model' });

async function main(): Promise<void> {
  const config = readConfig();
  const server = await startDemoModel({
    port: config.PORT,
    host: config.HOST,
    paceMs: config.DEMO_PACE_MS,
    isContentOptional: config.DEMO_CONTENT_OPTIONAL,
  });
  log.info({ url: server.url }, 'demo model started');

  await Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')]);
  await server.close();
  log.info('demo model stopped');
}

void main();
