import { BullModule } from '@nestjs/bullmq';
import { type DynamicModule, type OnApplicationShutdown, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { type MicroserviceOptions, Transport } from '@nestjs/microservices';
import type { RecordedFact } from '@rondo/contract';
import {
  type SecretAnswer,
  type SecretQuestion,
  type SkillAnswer,
  type SkillQuestion,
  announceRunHolder,
  answerHosting,
  answerSecrets,
  answerSkills,
  DelayedPollWorker,
  natsTransportOptions,
  skillPartBytes,
  untilSubscribed,
  workerConnection,
} from '@rondo/messaging';
import { type RunSkills, type SecretOpenings, readDeploymentState, refuseNewerSchema } from '@rondo/persistence';
import {
  type Logger,
  HealthModule,
  MetricsModule,
  UnusableDependency,
  answerProbesWhile,
  nestLogger,
  repeatOnGrid,
} from '@rondo/platform';
import { ActiveRuns } from '@rondo/run-holder';
import { Registry } from 'prom-client';
import { releaseAllRuns } from './activation/release-all-runs';
import { RunProcessor } from './activation/run.processor';
import { signalsController } from './activation/signals.controller';
import { type AgentWorker, compose } from './compose';
import type { Config } from './config';
import { registerDeploymentMetrics } from './maintenance/deployment-metrics';

/** Subscribes and listens before it processes jobs: a stop of any run that it activates then reaches it. */
export async function startAgentWorker(config: Config, log: Logger) {
  const { worker, app } = await answerProbesWhile({ ...config, dependency: 'nats' }, () => prepare(config, log));
  await app.listen(config.PORT, config.HOST);
  worker.processor.start(config.RUN_CONCURRENCY);
  worker.tasks.start();
  const leave = announceRunHolder(
    worker.nats,
    { id: config.WORKER_ID, service: 'agent-worker' },
    { repeat: repeatOnGrid },
  );
  log.info({ workerId: config.WORKER_ID, port: config.PORT }, 'agent-worker started');

  return {
    getUrl: () => app.getUrl(),
    drain: () => {
      leave();
      return releaseAllRuns(worker, config.DRAIN_MS);
    },
    close: () => {
      leave();
      return app.close();
    },
  };
}

/** Resolves once NATS is there and has the subscriptions. */
async function prepare(config: Config, log: Logger) {
  const worker = await compose(config, log);
  await refuseNewerSchema(worker.database);
  await worker.queues.refuseClusterMode();
  const app = await NestFactory.create(AgentWorkerModule.with(worker), { logger: nestLogger(log) });
  app.connectMicroservice<MicroserviceOptions>({
    transport: Transport.NATS,
    options: natsTransportOptions({ url: config.NATS_URL, name: 'agent-worker' }),
  });
  registerMetrics(app.get(Registry), worker);

  await app.startAllMicroservices();
  await untilSubscribed(app);
  answerHosting(worker.nats, worker.moves.readHosting.bind(worker.moves)); // until NATS closes
  answerSkills(worker.nats, (question) => answerSkillQuestion(worker.runSkills, question));
  const secrets = { openings: worker.secretOpenings, publish: worker.feed.publish.bind(worker.feed) };
  answerSecrets(worker.nats, (question) => answerSecretQuestion(secrets, question));
  return { worker, app };
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

BullModule.workerClass = DelayedPollWorker;

/** Closes the connections last, when no run is active any more that could use them. */
class Lifecycle implements OnApplicationShutdown {
  constructor(private readonly worker: AgentWorker) {}

  async onApplicationShutdown(): Promise<void> {
    await this.worker.close();
  }
}

const throwExplained = ({ message }: Error): never => {
  throw new UnusableDependency(message);
};

/** The composed values that Nest uses: the job processor, the signals, health and metrics. */
@Module({})
class AgentWorkerModule {
  static with(worker: AgentWorker): DynamicModule {
    const { config, database, nats, toolStreams, mcpCatalog, queues, dueRuns, tasks, processor, activeRuns } = worker;
    return {
      module: AgentWorkerModule,
      imports: [
        BullModule.forRoot({ connection: workerConnection(config.REDIS_URL) }),
        BullModule.registerQueue(), // without a queue: it makes Nest look for processors
        MetricsModule.register(config),
        HealthModule.registerAsync({
          useFactory: () => ({
            postgres: () => database.ping(),
            nats: () => nats.ping(),
            call_store: () => toolStreams.assertUsable().catch(throwExplained),
            redis: () => queues.ping(),
            queue: () => dueRuns.checkQueue(),
          }),
          liveness: () => ({
            tasks: () => tasks.assertOnTime(config.LIVENESS_MS),
            dueRuns: () => dueRuns.assertPolled(config.LIVENESS_MS),
          }),
        }),
      ],
      controllers: [signalsController(config.WORKER_ID, { calls: toolStreams, servers: mcpCatalog })],
      providers: [
        { provide: RunProcessor, useValue: processor },
        { provide: ActiveRuns, useValue: activeRuns },
        { provide: Lifecycle, useValue: new Lifecycle(worker) },
      ],
    };
  }
}

interface SecretAnswerParts {
  readonly openings: Pick<SecretOpenings, 'findGranted' | 'open' | 'note'>;
  readonly publish: (facts: readonly RecordedFact[]) => void;
}

/** Answers executors, which read no database. A sealed value leaves with a use that is recorded, or not at all. */
async function answerSecretQuestion(
  { openings, publish }: SecretAnswerParts,
  question: SecretQuestion,
): Promise<SecretAnswer> {
  switch (question.ask) {
    case 'grants':
      return { how: 'granted', secrets: [...(await openings.findGranted(question.run_id))] };
    case 'open': {
      const { account_id: accountId, run_id: runId, call_id: callId, name, via, request } = question;
      const opened = await openings.open({ accountId, runId, callId, name, via, request });
      if (opened.how !== 'awaits') return opened;
      publish(opened.facts);
      return { how: 'awaits', approval_id: opened.approval_id };
    }
    case 'note':
      await openings.note(question.use_id, question.status);
      return { how: 'noted' };
  }
}

/** Answers executors, which read no database: with what the run names, and nothing else of its account. */
async function answerSkillQuestion(
  skills: Pick<RunSkills, 'listFiles' | 'readPart'>,
  question: SkillQuestion,
): Promise<SkillAnswer> {
  const named = { runId: question.run_id, skillId: question.skill_id, version: question.version };
  if (question.ask === 'files') {
    const files = await skills.listFiles(named);
    return files.length === 0 ? { how: 'unknown' } : { how: 'files', files: [...files] };
  }
  const { path, offset } = question;
  const bytes = await skills.readPart(named, { path, offset, bytes: skillPartBytes });
  return bytes ? { how: 'part', base64: bytes.toString('base64') } : { how: 'unknown' };
}
