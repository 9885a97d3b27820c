import { NestFactory } from '@nestjs/core';
import { type MicroserviceOptions, Transport } from '@nestjs/microservices';
import { answerHosting, natsTransportOptions, untilSubscribed } from '@rondo/messaging';
import { type Logger, nestLogger } from '@rondo/platform';
import { readDeploymentState } from '@rondo/persistence';
import { Registry } from 'prom-client';
import { releaseAllRuns } from './activation/release-all-runs';
import { AgentWorkerModule } from './agent-worker.module';
import { type AgentWorker, compose } from './compose';
import type { Config } from './config';
import { registerDeploymentMetrics } from './maintenance/deployment-metrics';

/** Subscribes and listens before it processes jobs: a stop of any run that it activates then reaches it. */
export async function startAgentWorker(config: Config, log: Logger) {
  const worker = await compose(config, log);
  const app = await NestFactory.create(AgentWorkerModule.with(worker), { logger: nestLogger(log) });
  app.connectMicroservice<MicroserviceOptions>({
    transport: Transport.NATS,
    options: natsTransportOptions({ url: config.NATS_URL, name: 'agent-worker' }),
  });
  registerMetrics(app.get(Registry), worker);

  await app.startAllMicroservices();
  await untilSubscribed(app);
  answerHosting(worker.nats, worker.moves.hostingOf.bind(worker.moves)); // until NATS closes
  await app.listen(config.PORT, config.HOST);
  worker.processor.start(config.RUN_CONCURRENCY);
  worker.tasks.start();
  log.info({ workerId: config.WORKER_ID, port: config.PORT }, 'agent-worker started');

  return {
    getUrl: () => app.getUrl(),
    drain: () => releaseAllRuns(worker, config.DRAIN_MS),
    close: () => app.close(),
  };
}

function registerMetrics(
  registry: Registry,
  { database, metrics, factMetrics, modelMetrics, mover }: AgentWorker,
): void {
  metrics.registerOn(registry);
  factMetrics.registerOn(registry);
  modelMetrics.registerOn(registry);
  mover.registerOn(registry);
  registerDeploymentMetrics(registry, () => readDeploymentState(database));
}
