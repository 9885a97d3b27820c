import { createLogger, runService } from '@rondo/platform';
import { readConfig } from './config';
import { createGateway } from './gateway-app';

async function main(): Promise<void> {
  const config = readConfig();
  const log = createLogger({ name: 'gateway', level: config.LOG_LEVEL });
  const { app, drain } = await createGateway(config, log);
  runService(app, { log, drain });

  await app.listen(config.PORT, config.HOST);
  log.info({ url: await app.getUrl() }, 'gateway started');
}

void main();
