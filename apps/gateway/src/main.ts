import { refuseNewerSchema } from '@rondo/persistence';
import { createLogger, runService } from '@rondo/platform';
import { readConfig } from './config';
import { createGateway } from './gateway-app';

async function main(): Promise<void> {
  const config = readConfig();
  const log = createLogger({ name: 'gateway', level: config.LOG_LEVEL });
  const { app, parts, drain, document } = await createGateway(config, log);
  runService(app, { log, drain });
  document(); // now, so that no request is the first that needs it

  await refuseNewerSchema(parts.database);
  await parts.queues.refuseClusterMode();
  await app.listen(config.PORT, config.HOST);
  log.info({ url: await app.getUrl() }, 'gateway started');
}

void main();
