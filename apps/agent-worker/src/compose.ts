import { ClientProxyFactory, Transport } from '@nestjs/microservices';
import { eventId, type AccountId } from '@rondo/contract';
import {
  CachingTokenCounter,
  type Model,
  NewerRunError,
  toBudgets,
  factsOfModel,
  honoursKeysAt,
  idGenerator,
  leastInputPrice,
  paceLimits,
  readToolSpace,
  readTiers,
  tools,
  type CallSize,
  type ModelProviders,
  mostCallCost,
} from '@rondo/domain';
import { TiktokenCounter, createModels, findMaxTools } from '@rondo/llm';
import {
  NatsRunFeed,
  OpenExecutors,
  RunQueues,
  SharedPace,
  ToolStreams,
  ToolSupport,
  WorkSignal,
  connectNats,
  natsTransportOptions,
  producerConnection,
  requestAdoption,
  QueueShares,
  usualQueueShare,
} from '@rondo/messaging';
import {
  Blobs,
  Outbox,
  PostgresRunStore,
  PostgresRunMemory,
  Reservations,
  RunTrees,
  Sandboxes,
  RunSkills,
  Skills,
  SecretOpenings,
  ToolSets,
  WorkAhead,
  WorkspaceMoves,
  isDatabaseUnavailable,
  openDatabase,
  readSentCalls,
  readTracedRun,
  type Database,
  FetchedImages,
  AccountSpending,
} from '@rondo/persistence';
import {
  type Logger,
  isoNow,
  newUlid,
  openTracing,
  readModelConnection,
  OutboundProxy,
  publicInternet,
  resolveByDns,
  resolveWithSystem,
} from '@rondo/platform';
import {
  ActiveRuns,
  FactMetrics,
  ModelMetrics,
  OutboxRelay,
  QueueProbe,
  Rest,
  RunToolSets,
  composeRunTraces,
} from '@rondo/run-holder';
import { createMcpCatalog, toTools } from './activation/compose-tools';
import { AgentRunner } from './activation/agent-runner';
import { DueRunPoller } from './activation/due-run-poller';
import { createReplacementRecord } from './activation/replaced-database';
import { RunProcessor } from './activation/run.processor';
import type { McpCatalog } from './activation/mcp-catalog';
import { SandboxPlacement } from './activation/sandbox-placement';
import { WorkspaceMover } from './activation/workspace-mover';
import { composeChildRuns } from './child-runs/compose-child-runs';
import { type Config, readModelProviders } from './config';
import { composeDocuments, composeFiles } from './files/compose-files';
import { DocumentsFromFiles } from './files/documents-from-files';
import { ImagesFromBlobs } from './images/images-from-blobs';
import { composeWorkspaces } from './workspaces/compose-workspaces';
import { createMaintenanceTasks } from './maintenance/maintenance-tasks';
import { RunMetrics } from './activation/run-metrics';
import { type ImageRules, fetchImage } from './images/fetch-image';
import { ImageCache } from './images/image-cache';
import { ImagesFromUrls } from './images/images-from-urls';
import { AccountBudgets } from './activation/account-budgets';
import { AccountReservations } from './activation/account-reservations';

const name = 'agent-worker';

/** Everything that a worker is made of. Resolves once NATS is connected. */
export async function compose(config: Config, log: Logger) {
  const adapters = await connect(config, log);
  const activeRuns = new ActiveRuns();
  const { store } = adapters;
  const metrics = new RunMetrics({ concurrency: config.RUN_CONCURRENCY, activeRuns, store });
  const providers = readModelProviders();
  const modelMetrics = new ModelMetrics(providers.providers.map(({ name }) => name));
  const placement = new SandboxPlacement(adapters);
  const mcpCatalog = createMcpCatalog(adapters, { placement, startMs: config.MCP_START_S * 1_000 });
  const runner = toRunner(adapters, activeRuns, { config, log, providers, modelMetrics, placement, mcpCatalog });
  const processor = new RunProcessor(runner, metrics);
  const rest = new Rest({
    signal: new WorkSignal(adapters.nats),
    work: new WorkAhead(adapters.database, ['activeRuns', 'jobs', 'strandedRuns', 'expiringWaits']),
  });
  const dueRuns = new DueRunPoller({
    queue: new QueueProbe(() => processor.worker),
    store,
    activeRuns,
    rest,
    concurrency: config.RUN_CONCURRENCY,
    activateNext: () => runner.activateNext(),
    failed: warnTo(log)('run activation failed'),
  });
  const tasks = createMaintenanceTasks({ ...adapters, config, log, activeRuns, dueRuns, rest });
  return {
    ...adapters,
    config,
    log,
    activeRuns,
    metrics,
    modelMetrics,
    mcpCatalog,
    processor,
    dueRuns,
    tasks,
    close: () => closeAdapters(adapters),
  };
}

export type AgentWorker = Awaited<ReturnType<typeof compose>>;

const warnTo = (log: Logger) => (message: string) => (error: unknown) => {
  log.warn({ error }, message);
};

async function connect(config: Config, log: Logger) {
  const { DATABASE_URL, DATABASE_POOL_SIZE, REDIS_URL, NATS_URL, NATS_STREAM_REPLICAS, WORKER_ID } = config;
  const nats = await connectNats({ url: NATS_URL, name, log });
  const pace = new SharedPace({ url: REDIS_URL, limits: paceLimits(readModelProviders()) });
  const toolStreams = new ToolStreams(nats, { replicas: NATS_STREAM_REPLICAS });
  toolStreams.keepCreated();
  const database = openDatabase({ url: DATABASE_URL, poolSize: DATABASE_POOL_SIZE, leaseOwner: WORKER_ID, log });
  const queues = new RunQueues({ connection: producerConnection(REDIS_URL), log });
  const relay = new OutboxRelay(new Outbox(database), queues, warnTo(log)('outbox not published'));
  const factMetrics = new FactMetrics();
  const { feed, ...traces } = composeRunTraces(factMetrics.countFacts(new NatsRunFeed(nats)), {
    tracing: await openTracing(config, { service: name, log }),
    queue: 'runs',
    readRun: (id) => readTracedRun(database, id),
    readSentCalls: (run) => readSentCalls(database, run),
    failed: warnTo(log)('end of a run not traced'),
  });
  const store = new PostgresRunStore({
    database,
    newId: newUlid,
    leaseMs: config.LEASE_MS,
    settlesAt: readTiers(config.ACCOUNT_TIERS)?.priceFactors,
    reaper: { compactionMs: config.COMPACTION_PATIENCE_MS },
    onPromoted: (facts) => {
      feed.publish(facts);
      void relay.publish();
    },
  });
  const options = natsTransportOptions({ url: NATS_URL, name });
  const executors = ClientProxyFactory.create({ transport: Transport.NATS, options });
  const sandboxes = new Sandboxes(database, newUlid);
  const openExecutors = new OpenExecutors(nats);
  const moves = new WorkspaceMoves(database);
  const secretOpenings = new SecretOpenings(database, newUlid);
  const runSkills = new RunSkills(database);
  const trees = new RunTrees(database, newUlid);
  const reservations = new Reservations(database);
  return {
    ...{ nats, toolStreams, database, queues, relay, feed, factMetrics, traces, store },
    ...{ executors, openExecutors, sandboxes, moves, pace, secretOpenings, runSkills },
    mover: new WorkspaceMover({
      ...{ moves, executors: openExecutors, log, lostAfterMs: config.EXECUTOR_LOST_AFTER_S * 1_000 },
      adopt: (executorId, adoption) => requestAdoption(nats, executorId, adoption),
    }),
    trees,
    reservations,
    queueShares: createQueueShares(config, reservations),
    blobs: new Blobs(database),
  };
}

type Adapters = Awaited<ReturnType<typeof connect>>;

/** The database last: what the other connections still handle is written there. */
async function closeAdapters({ queues, executors, nats, traces, database, ...parts }: Adapters): Promise<void> {
  parts.pace.close();
  parts.queueShares.close();
  await Promise.all([queues.close(), executors.close(), nats.close(), traces.close()]);
  await database.close();
}

/** Accounts take turns where requests wait for the pace of a provider. */
const forAccount = (model: Model, account: string): Model => ({
  stream: (request, signal) => model.stream({ ...request, account }, signal),
});

interface RunnerSettings {
  readonly config: Config;
  readonly log: Logger;
  readonly providers: ReturnType<typeof readModelProviders>;
  readonly modelMetrics: ModelMetrics;
  readonly placement: SandboxPlacement;
  readonly mcpCatalog: McpCatalog;
}

function composeToolSets(
  { nats, database }: Pick<Adapters, 'nats' | 'database'>,
  { providers, mcpCatalog }: Pick<RunnerSettings, 'providers' | 'mcpCatalog'>,
): RunToolSets {
  const support = new ToolSupport(nats);
  return new RunToolSets({
    stored: new ToolSets(database),
    builtIn: tools,
    lacked: () => support.lacked,
    spaceFor: (settings) =>
      readToolSpace(settings, { maxTools: (name) => findMaxTools(name, providers), inputBudget: toBudgets(providers) }),
    catalogFor: mcpCatalog.catalogFor.bind(mcpCatalog),
  });
}

function toRunner(
  adapters: Adapters,
  activeRuns: ActiveRuns,
  { config, log, providers, modelMetrics, placement, mcpCatalog }: RunnerSettings,
): AgentRunner {
  const { database, store, feed, traces, relay, blobs } = adapters;
  const model = modelMetrics.measureModel(
    createModels({ ...providers, ...readModelConnection(config), pace: adapters.pace }),
  );
  const toolSets = composeToolSets(adapters, { providers, mcpCatalog });
  const files = composeFiles(adapters, placement);
  const workspaces = composeWorkspaces(adapters, placement);
  const { documentCache, documentsInMessages } = composeDocuments(database, providers.providers);
  const { imageCache, imagesFromUrls } = composeImages({ database, blobs, config });
  const tokens = new TiktokenCounter();
  return new AgentRunner({
    owner: config.WORKER_ID,
    store,
    feed,
    withWorkspace: workspaces.prepareFor.bind(workspaces),
    prepared: async (claim, signal) => {
      // Not awaited: it is for the runs that this worker takes over later, whose lost replies have to be counted at once.
      tokens.load(claim.run.settings.model).catch(warnTo(log)('vocabulary not loaded'));
      return documentsInMessages.showIn(await imagesFromUrls.showIn(await files.deliverFor(claim, signal), signal));
    },
    recordedFirst: createReplacementRecord(adapters, warnTo(log)('calls that the database lacks were not looked for')),
    modelFor: ({ runId, accountId }) => {
      const withDocuments = new DocumentsFromFiles(model, documentCache.of(runId));
      return forAccount(new ImagesFromBlobs(withDocuments, imageCache.of(runId)), accountId);
    },
    tokens: new CachingTokenCounter(tokens),
    resolveBudget: toBudgets(providers),
    findFacts: (model) => factsOfModel(model, providers),
    honoursKeys: honoursKeysAt(config.IDEMPOTENT_HOSTS ?? []),
    leastInputPrice: (model) => leastInputPrice(model, providers, Date.now()),
    accountBudgets: toAccountBudgets(database, config, warnTo(log)('account budget not checked')),
    reservations: findReservations(adapters.reservations, config, providers),
    ids: idGenerator(newUlid),
    clock: { now: isoNow },
    toArchive: (claim) => store.toArchive(claim),
    waitingMessages: (claim) => store.waitingMessages(claim),
    toMemory: (claim) => new PostgresRunMemory(database, claim),
    ...composeChildRuns({
      ...adapters,
      skills: new Skills(database, newUlid),
      providers,
      failed: warnTo(log)('child runs not looked after'),
    }),
    activeRuns,
    activated: traces.activated,
    onError: (details) =>
      details.error instanceof NewerRunError
        ? log.warn({ runId: details.runId, unknown: details.error.unknown }, 'run left to a newer version')
        : log.error(details, 'run activation broke'),
    isOutage: isDatabaseUnavailable,
    publishJobs: () => relay.publish(),
    journal: { frameMs: config.DELTA_FRAME_MS, newEventId: () => eventId.parse(`evt_${newUlid()}`), now: isoNow },
    toolSetFor: (claim, signal) => toolSets.toolSetFor(claim, signal),
    toolsFor: toTools(adapters, placement),
  });
}

const imageCacheBytes = 64 * 1024 * 1024;
const fetchTimeoutMs = 10_000;
const pauseMs = 500;

/** Where the images of messages come from: stored blobs, and URLs that are fetched under the operator's rules. */
function composeImages({ database, blobs, config }: { database: Database; blobs: Blobs; config: Config }) {
  const rules: ImageRules = {
    resolve: resolveByDns(),
    isAllowed: publicInternet({ deniedNetworks: config.IMAGE_DENIED_NETWORKS ?? [] }),
    internalHosts: config.IMAGE_INTERNAL_HOSTS ?? [],
    resolveInternal: resolveWithSystem(),
    proxy: OutboundProxy.from(config),
    timeoutMs: fetchTimeoutMs,
  };
  return {
    imageCache: new ImageCache((runId, hashes) => blobs.read(runId, hashes), imageCacheBytes),
    imagesFromUrls: new ImagesFromUrls({
      recorded: new FetchedImages(database),
      fetch: (url, signal) => fetchImage(url, rules, signal),
      pauseMs,
    }),
  };
}

function toAccountBudgets(database: Database, config: Config, failed: (error: unknown) => void): AccountBudgets {
  const spending = new AccountSpending(database);
  return new AccountBudgets({
    usd: config.ACCOUNT_BUDGET_USD,
    tokens: config.ACCOUNT_BUDGET_TOKENS,
    period: config.ACCOUNT_BUDGET_PERIOD,
    spentBy: (id, period) => spending.ofRun(id, period),
    nowMs: () => performance.now(),
    failed,
  });
}

/** Undefined where accounts have no tiers. */
function findReservations(
  reservations: Reservations,
  { ACCOUNT_TIERS }: Config,
  providers: ModelProviders,
): AccountReservations | undefined {
  const tiers = readTiers(ACCOUNT_TIERS);
  const computeCost = (size: CallSize) => mostCallCost(size, providers, Date.now());
  return tiers && new AccountReservations({ tiers, reservations, computeCost, nowMs: () => performance.now() });
}

/** Of the queue of tool calls. A tier may set another share. */
function createQueueShares({ REDIS_URL: url, ACCOUNT_TIERS }: Config, reservations: Reservations): QueueShares {
  const tiers = readTiers(ACCOUNT_TIERS);
  if (!tiers) return new QueueShares({ url });
  const readLimit = async (account: AccountId) => {
    const { tier } = await reservations.toTerms(account);
    return tiers.of(tier).quotas?.waiting_call_bytes ?? usualQueueShare;
  };
  return new QueueShares({ url, readLimit });
}
