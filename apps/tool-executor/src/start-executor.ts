import { setTimeout as sleep } from 'node:timers/promises';
import { type INestMicroservice, type DynamicModule, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Transport } from '@nestjs/microservices';
import { type NatsLink, announceExecutor, natsTransportOptions, signals, untilSubscribed } from '@rondo/messaging';
import { type Logger, answerProbesWhile, nestLogger, HealthModule, MetricsModule } from '@rondo/platform';
import { Registry } from 'prom-client';
import { type ExecutorParts, compose } from './compose';
import type { Config } from './config';
import { ExecutorIdentity } from './executor-identity';
import { ExecutorGauges, ToolCallMetrics } from './executor-metrics';
import { McpResponder } from './mcp/mcp.responder';
import { PlacementController } from './hosting/placement.controller';
import { SandboxHealth } from './sandboxes';
import { SandboxAccess } from './hosting/sandbox-access';
import { SandboxReconciler } from './hosting/sandbox-reconciler';
import { SandboxRetention } from './hosting/sandbox-retention';
import { SandboxResponder } from './hosting/sandbox.responder';
import { ToolCallProcessor } from './tools/tool-call.processor';
import { WorkspaceAdoptions } from './hosting/workspace-adoptions';
import { WorkspaceHosting } from './hosting/workspace-ownership';

export interface Executor {
  readonly url: string;
  /** Accepts no more threads, drains running calls, and closes everything. */
  close(): Promise<void>;
}

/** More than NATS needs to process the drain. While NATS is away, no placement request can arrive either. */
const placementDrainMs = 500;

/** Starts one executor under its stored id: tool calls from JetStream, placements from NATS, HTTP for health and metrics. */
export async function startExecutor(config: Config, log: Logger): Promise<Executor> {
  const { parts, app, placements } = await answerProbesWhile({ ...config, dependency: 'nats' }, () =>
    prepare(config, log),
  );
  await app.listen(config.PORT, config.HOST);
  const url = await app.getUrl();
  log.info({ executorId: parts.identity.id, url }, 'tool executor started');
  const stopAnnouncing = announce(parts);
  const close = async () => {
    stopAnnouncing();
    await acceptNoMoreThreads(placements);
    await app.close();
    await parts.close();
  };
  return { url, close };
}

/** Resolves once NATS is there and has the subscriptions. */
async function prepare(config: Config, log: Logger) {
  const parts = await compose(config, log);
  const app = await NestFactory.create(ToolExecutorModule.with(parts), { logger: nestLogger(log) });
  const executorId = parts.identity.id;
  const placements = app.connectMicroservice({
    transport: Transport.NATS,
    options: natsTransportOptions({
      url: config.NATS_URL,
      name: `placement ${executorId}`,
      queue: signals.place.queue,
    }),
  });
  await app.startAllMicroservices();
  await untilSubscribed(app);
  return { parts, app, placements };
}

/** Announces whether this executor accepts threads, how busy it is, and what it has for tools. */
function announce(parts: ExecutorParts) {
  const { config, nats, identity, consumer, sandboxes, sandboxSlots, sandboxHealth, hosting, lacks, offers } = parts;
  const problem = async () => (await sandboxHealth.problem()) ?? consumer.problem;
  return announceExecutor(nats, identity.id, {
    isOpen: async () => !sandboxSlots.isFull && (await problem()) === undefined,
    load: () => ({
      calls: { ...consumer.load, slots: config.TOOL_CONCURRENCY },
      sandboxes: { awake: sandboxSlots.awake, max: config.SANDBOX_MAX },
    }),
    provider: { name: sandboxes.name, affinity: sandboxes.affinity },
    lacks: () => lacks,
    offers,
    adopts: sandboxes.copies !== undefined,
    sent: () => hosting.noteAnnouncement(),
    problem,
  });
}

/** A thread is placed for good, so none may be placed on an executor that is closing. Other executors answer from now on. */
async function acceptNoMoreThreads(placements: INestMicroservice): Promise<void> {
  const connection = placements.unwrap<NatsLink['connection']>();
  const drained = connection.drain().catch(() => undefined); // The connection is lost, so no request arrives over it.
  await Promise.race([drained, sleep(placementDrainMs, undefined, { ref: false })]);
}

/** Hands the parts that `compose` has built to Nest, which runs their lifecycle hooks and the HTTP server. */
@Module({})
class ToolExecutorModule {
  constructor(registry: Registry, calls: ToolCallMetrics, gauges: ExecutorGauges) {
    calls.register(registry);
    gauges.register(registry);
  }

  static with(parts: ExecutorParts): DynamicModule {
    return {
      module: ToolExecutorModule,
      imports: [MetricsModule.register(parts.config), HealthModule.register({ nats: () => parts.nats.ping() })],
      controllers: [PlacementController],
      providers: [
        { provide: ToolCallProcessor, useValue: parts.toolCallProcessor },
        { provide: SandboxResponder, useValue: parts.sandboxResponder },
        { provide: SandboxReconciler, useValue: parts.sandboxReconciler },
        { provide: SandboxRetention, useValue: parts.sandboxRetention },
        { provide: McpResponder, useValue: parts.mcpResponder },
        { provide: SandboxAccess, useValue: parts.sandboxAccess },
        { provide: WorkspaceHosting, useValue: parts.hosting },
        { provide: WorkspaceAdoptions, useValue: parts.workspaceAdoptions },
        { provide: ExecutorIdentity, useValue: parts.identity },
        { provide: SandboxHealth, useValue: parts.sandboxHealth },
        { provide: ToolCallMetrics, useValue: parts.toolCallMetrics },
        { provide: ExecutorGauges, useValue: parts.gauges },
      ],
    };
  }
}
