import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Transport } from '@nestjs/microservices';
import { natsTransportOptions } from '@rondo/messaging';
import { type Logger, nestLogger, newUlid } from '@rondo/platform';
import type { Config } from './config';
import { assumeIdentity } from './executor-identity';
import { Resources } from './resources';
import { ToolExecutorModule } from './tool-executor.module';

/** One executor under its kept name: calls from JetStream, placements from NATS, and HTTP for health and metrics only. */
export async function startExecutor(config: Config, log: Logger): Promise<INestApplication> {
  const executor = await assumeIdentity(config.EXECUTOR_ID_FILE, () => `exe_${newUlid()}`);
  const resources = await Resources.open({ config, executor, log });
  await resources.sandboxProblem(); // Tried out before it is ready, so that whoever sees it ready finds a problem in its log.
  const app = await NestFactory.create(ToolExecutorModule.with(resources), { logger: nestLogger(log) });

  app.connectMicroservice({
    transport: Transport.NATS,
    options: natsTransportOptions({ url: config.NATS_URL, name: `placement ${executor.id}`, queue: 'executors' }),
  });
  await app.startAllMicroservices();
  await app.listen(config.PORT, config.HOST);
  log.info({ executorId: executor.id, url: await app.getUrl() }, 'tool executor started');
  return app;
}
