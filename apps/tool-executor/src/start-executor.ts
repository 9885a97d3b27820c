import { setTimeout as sleep } from 'node:timers/promises';
import type { INestMicroservice } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Transport } from '@nestjs/microservices';
import { type NatsLink, announceExecutor, natsTransportOptions, signals, untilSubscribed } from '@rondo/messaging';
import { type Logger, nestLogger, newUlid } from '@rondo/platform';
import type { Config } from './config';
import { assumeIdentity } from './executor-identity';
import { Resources } from './resources';
import { ToolCallProcessor } from './tool-call.processor';
import { ToolExecutorModule } from './tool-executor.module';

export interface Executor {
  readonly url: string;
  /** Takes no thread in any more, gives running calls their time, and puts everything away. */
  close(): Promise<void>;
}

/** Longer than the server needs to hear of it, unless it is away; then it cannot ask either. */
const lastPlacementsMs = 500;

/** One executor under its kept name: calls from JetStream, placements from NATS, and HTTP for health and metrics only. */
export async function startExecutor(config: Config, log: Logger): Promise<Executor> {
  const executor = await assumeIdentity(config.EXECUTOR_ID_FILE, {
    given: config.EXECUTOR_ID,
    mint: () => `exe_${newUlid()}`,
  });
  const resources = await Resources.open({ config, executor, log });
  await resources.sandboxProblem(); // Tried out before it is ready, so that whoever sees it ready finds a problem in its log.
  const app = await NestFactory.create(ToolExecutorModule.with(resources), { logger: nestLogger(log) });

  const placements = app.connectMicroservice({
    transport: Transport.NATS,
    options: natsTransportOptions({
      url: config.NATS_URL,
      name: `placement ${executor.id}`,
      queue: signals.place.queue,
    }),
  });
  await app.startAllMicroservices();
  await untilSubscribed(app);
  await app.listen(config.PORT, config.HOST);
  const url = await app.getUrl();
  log.info({ executorId: executor.id, url }, 'tool executor started');
  const isOpen = async () => !resources.places.isFull && (await resources.sandboxProblem()) === undefined;
  const calls = app.get(ToolCallProcessor);
  const leave = announceExecutor(resources.nats, executor.id, {
    isOpen,
    load: () => ({
      calls: { ...calls.load, slots: config.TOOL_CONCURRENCY },
      sandboxes: { awake: resources.places.awake, max: config.SANDBOX_MAX },
    }),
  });
  const close = async () => {
    leave();
    await takeNoMoreThreads(placements);
    await app.close();
  };
  return { url, close };
}

/** Threads are placed for good, so none may be with who is leaving. Their requests go to the others from now on. */
async function takeNoMoreThreads(placements: INestMicroservice): Promise<void> {
  const connection = placements.unwrap<NatsLink['connection']>();
  const drained = connection.drain().catch(() => undefined); // it is lost, and nobody asks over it
  await Promise.race([drained, sleep(lastPlacementsMs, undefined, { ref: false })]);
}
