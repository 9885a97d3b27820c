import { type Model, toBudgets, idGenerator, paceLimits, readTiers, tools } from '@rondo/domain';
import { TiktokenCounter, createModels } from '@rondo/llm';
import { NatsRunFeed, RunQueues, SharedPace, WorkSignal, connectNats, producerConnection } from '@rondo/messaging';
import {
  Outbox,
  PostgresRunStore,
  ProjectTitles,
  ToolSets,
  WorkAhead,
  isDatabaseUnavailable,
  openDatabase,
  readSentCalls,
  readTracedRun,
  reapDeadEveryMs,
} from '@rondo/persistence';
import { type Logger, isoNow, newUlid, openTracing, readModelConnection } from '@rondo/platform';
import {
  ActiveRuns,
  FactMetrics,
  Heartbeat,
  ModelMetrics,
  OutboxRelay,
  PeriodicTasks,
  QueueProbe,
  Rest,
  RunToolSets,
  composeRunTraces,
} from '@rondo/run-holder';
import { CompactionMetrics } from './compaction-metrics';
import { CompactionProcessor } from './compaction.processor';
import { Compactor } from './compactor';
import { ProjectTitler } from './project-titler';
import { type Config, readModelProviders } from './config';

const name = 'summarizer';
const titlesEveryMs = 2_000;

/** Everything that a summarizer is made of. Resolves once NATS is connected. */
export async function compose(config: Config, log: Logger) {
  const adapters = await connect(config, log);
  const { store, relay } = adapters;
  const activeRuns = new ActiveRuns();
  const providers = readModelProviders();
  const modelMetrics = new ModelMetrics(providers.providers.map(({ name }) => name));
  const model = modelMetrics.measureModel(
    createModels({ ...providers, ...readModelConnection(config), pace: adapters.pace }),
  );
  const metrics = new CompactionMetrics({ concurrency: config.COMPACTION_CONCURRENCY, activeRuns });
  const processor = new CompactionProcessor(toCompactor(adapters, activeRuns, { config, providers, model }), metrics);
  const titler = new ProjectTitler({
    titles: new ProjectTitles(adapters.database),
    model,
    modelName: config.TITLE_MODEL ?? config.SUMMARY_MODEL,
  });
  const rest = new Rest({
    signal: new WorkSignal(adapters.nats),
    work: new WorkAhead(adapters.database, ['activeRuns', 'titles']),
  });
  const heartbeat = new Heartbeat(config.SUMMARIZER_ID, store, activeRuns);
  const reapDead = async () => {
    const held = activeRuns.all().map(({ claim }) => claim);
    if ((await store.reapDead(config.SUMMARIZER_ID, held)) > 0) await relay.publish();
  };
  const onError = (task: string, error: unknown) => log.warn({ task, error }, 'periodic task failed');
  return {
    ...adapters,
    config,
    log,
    activeRuns,
    metrics,
    modelMetrics,
    processor,
    queueProbe: new QueueProbe(() => processor.worker),
    heartbeat: new PeriodicTasks(
      { heartbeat: { everyMs: config.HEARTBEAT_MS, work: () => heartbeat.beat() } },
      onError,
    ),
    titler,
    titles: new PeriodicTasks(
      { writeTitles: { everyMs: titlesEveryMs, work: rest.unlessResting(() => titler.writeDue()) } },
      onError,
    ),
    /** Dead workers are detected here too, since all of them may have died. */
    maintenance: new PeriodicTasks(
      {
        look: rest.task,
        reapDead: {
          everyMs: reapDeadEveryMs,
          work: rest.unlessResting(reapDead),
        },
      },
      onError,
    ),
    close: () => closeAdapters(adapters),
  };
}

export type Summarizer = Awaited<ReturnType<typeof compose>>;

async function connect({ DATABASE_URL, DATABASE_POOL_SIZE, REDIS_URL, NATS_URL, ...config }: Config, log: Logger) {
  const nats = await connectNats({ url: NATS_URL, name, log });
  const pace = new SharedPace({ url: REDIS_URL, limits: paceLimits(readModelProviders()) });
  const { SUMMARIZER_ID: leaseOwner, LEASE_MS: leaseMs } = config;
  const settlesAt = readTiers(config.ACCOUNT_TIERS)?.priceFactors;
  const database = openDatabase({ url: DATABASE_URL, poolSize: DATABASE_POOL_SIZE, leaseOwner, log });
  const queues = new RunQueues({ connection: producerConnection(REDIS_URL), log });
  const factMetrics = new FactMetrics();
  const { feed, ...traces } = composeRunTraces(factMetrics.countFacts(new NatsRunFeed(nats)), {
    tracing: await openTracing(config, { service: name, log }),
    queue: 'compactions',
    readRun: (id) => readTracedRun(database, id),
    readSentCalls: (run) => readSentCalls(database, run),
    failed: (error) => log.warn({ error }, 'end of a run not traced'),
  });
  return {
    nats,
    pace,
    database,
    queues,
    feed,
    factMetrics,
    traces,
    relay: new OutboxRelay(new Outbox(database), queues, (error) => log.warn({ error }, 'outbox not published')),
    store: new PostgresRunStore({ database, newId: newUlid, queue: 'compactions', leaseMs, settlesAt }),
  };
}

type Adapters = Awaited<ReturnType<typeof connect>>;

/** The database last: what the other connections still handle is written there. */
async function closeAdapters({ queues, nats, traces, database, pace }: Adapters): Promise<void> {
  pace.close();
  await Promise.all([queues.close(), nats.close(), traces.close()]);
  await database.close();
}

interface CompactorSettings {
  readonly config: Config;
  readonly providers: ReturnType<typeof readModelProviders>;
  readonly model: Model;
}

function toCompactor(
  { store, feed, traces, relay, database }: Adapters,
  activeRuns: ActiveRuns,
  { config, providers, model }: CompactorSettings,
): Compactor {
  const toolSets = new RunToolSets({ stored: new ToolSets(database), builtIn: tools });
  return new Compactor({
    owner: config.SUMMARIZER_ID,
    store,
    feed,
    activeRuns,
    activated: traces.activated,
    toolSetFor: (claim) => toolSets.toolSetFor(claim),
    ports: {
      model,
      tokens: new TiktokenCounter(),
      resolveBudget: toBudgets(providers),
      ids: idGenerator(newUlid),
      clock: { now: isoNow },
    },
    summaryModel: config.SUMMARY_MODEL,
    isOutage: isDatabaseUnavailable,
    publishJobs: () => relay.publish(),
  });
}
