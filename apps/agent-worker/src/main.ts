import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { type MicroserviceOptions, Transport } from '@nestjs/microservices';
import { natsTransportOptions, untilSubscribed } from '@rondo/messaging';
import { type Logger, nestLogger, runService } from '@rondo/platform';
import { AgentWorkerModule } from './agent-worker.module';
import { config } from './config';
import { LOG } from './connections.module';
import { ActiveRuns } from './activation/active-runs';
import { leaveAllRuns } from './activation/leave';
import { PeriodicTasks } from './maintenance/periodic-tasks';
import { RunProcessor } from './activation/run.processor';

/** After the drain, what is left to do takes moments. */
const closeWithinMs = 4_000;

async function main(): Promise<void> {
  const app = await NestFactory.create(AgentWorkerModule, { bufferLogs: true });
  const log = app.get<Logger>(LOG);
  app.useLogger(nestLogger(log));
  app.connectMicroservice<MicroserviceOptions>({
    transport: Transport.NATS,
    options: natsTransportOptions({ url: config.NATS_URL, name: 'agent-worker' }),
  });

  const parts = { processor: app.get(RunProcessor), held: app.get(ActiveRuns), rounds: app.get(PeriodicTasks) };
  runService(app, {
    log,
    drain: () => leaveAllRuns(parts, config.DRAIN_MS),
    drainTimeoutMs: config.DRAIN_MS + closeWithinMs,
  });

  await app.startAllMicroservices();
  await untilSubscribed(app);
  await app.listen(config.PORT, config.HOST);
  parts.rounds.start();
  log.info({ workerId: config.WORKER_ID, port: config.PORT }, 'agent-worker started');
}

void main();
