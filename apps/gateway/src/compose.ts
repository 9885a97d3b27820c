import type { AccountId } from '@rondo/contract';
import { ClientProxyFactory, Transport } from '@nestjs/microservices';
import { readTiers } from '@rondo/domain';
import {
  QueueShares,
  RunQueues,
  SharedQuota,
  WorkSignal,
  connectNats,
  natsTransportOptions,
  producerConnection,
} from '@rondo/messaging';
import {
  Accounts,
  AgentVersions,
  Audiences,
  AuditLog,
  Agents,
  Balances,
  Blobs,
  ClientTokens,
  FacadeIds,
  Files,
  Evaluations,
  Executions,
  Firings,
  IdempotencyKeys,
  McpToolDefinitions,
  Messages,
  Outbox,
  Projects,
  PublicReads,
  Runs,
  Sandboxes,
  Schedules,
  SecretUses,
  Secrets,
  Skills,
  MemoryEntries,
  MemoryStores,
  StoredSettings,
  Sessions,
  Threads,
  WebhookTriggers,
  UsageLedger,
  Users,
  WorkAhead,
  findHolder,
  openDatabase,
  readQuotaUsage,
  readRunMinutes,
} from '@rondo/persistence';
import { SecretBox, type Logger, type Tracing, newUlid } from '@rondo/platform';
import { FactMetrics, Rest } from '@rondo/run-holder';
import { AgentService } from './agents/agent-service';
import { AccountLimits } from './billing/account-limits';
import { AccountQuotas } from './billing/account-quotas';
import { quotaLimits } from './billing/quota-variables';
import { AuditedRuns } from './audit/audited-runs';
import { AccountQuota, RequestRate } from './auth/account-quota';
import { ConcurrencyLimits } from './auth/concurrency-limits';
import { ClientReach, ClientRequests } from './auth/client-access';
import { toOperator } from './auth/deployment-operator';
import { LongRequests } from './auth/open-connections';
import { RateLimiter } from './auth/rate-limiter';
import { toModelCatalog, type ModelCatalog } from './catalog/model-catalog';
import { ToolCatalog } from './catalog/tool-catalog';
import type { GatewayConfig } from './config';
import { IdempotentMessages } from './idempotency/idempotent-requests';
import { KeysInFlight } from './idempotency/keys-in-flight';
import { FileUploads } from './files/file-uploads';
import { FormBodies } from './files/form-bodies';
import { composeSubscriptions } from './live/compose-subscriptions';
import { DeferredRunFeed } from './live/deferred-run-feed';
import { RunWatches } from './live/run-watches';
import { Sockets } from './live/sockets';
import { AllowedMethods } from './problems/allowed-methods';
import { ActiveRunQuota } from './runs/run-quotas';
import { runBudgets } from './runs/run-budgets';
import { Rewinds } from './runs/rewinds';
import { composeRunService } from './runs/compose-run-service';
import { composeTraces } from './runs/run-creation-traces';
import { RunSettingsResolver } from './settings/run-settings';
import { DeploymentHealth } from './operations/deployment-health';
import { SignsOfLife } from './operations/signs-of-life';
import { RunWaits } from './runs/run-waits';
import { TraceLinks } from './runs/trace-links';
import { WorkerSignals } from './runs/worker-signals';
import { SiteService } from './sites/site-service';
import { McpDiscoveryService } from './mcp-tools/mcp-discovery-service';
import { composeMcpConnections } from './mcp-connections/compose-mcp-connections';
import { BrowserAccess } from './sandboxes/browser-access';
import { CommandAccess } from './sandboxes/command-access';
import { SandboxService } from './sandboxes/sandbox-service';
import { composeTriggers } from './triggers/compose-triggers';
import { composeSignIn } from './sessions/compose-sign-in';
import { SecretService } from './secrets/secret-service';
import { SkillUploads } from './skills/skill-uploads';
import { composeWebhooks } from './webhooks/compose-webhooks';

const name = 'gateway';

/** Everything that the gateway is made of. It starts without Postgres, Redis and NATS, and uses each once it is there. */
export function compose(config: GatewayConfig, log: Logger, tracing: Tracing) {
  const warn = warnTo(log);
  const adapters = connect(config, log, tracing);
  const operator = toOperator(adapters, config, log);
  const signIn = composeSignIn({ ...adapters, operator }, config, warn);
  const { authenticator, connections } = signIn;
  const limits = new ConcurrencyLimits(config);
  const { accountRate, rate } = composeRates(adapters, config, warn);
  const clients = composeClients(adapters);
  const catalog = toModelCatalog(config);
  const sandboxService = new SandboxService({ ...adapters, maxFileBytes: config.FILE_LIMIT_BYTES });
  const rewinds = new Rewinds({ runs: adapters.runs, sandboxes: sandboxService });
  const services = toServices({ ...adapters, rewinds, sandboxService }, catalog, { config, warn });
  const { subscriptions, threadSubscriptions, streamMetrics } = composeSubscriptions(adapters, {
    stallLimitMs: config.STALL_LIMIT_S * 1000,
    memory: limits.memory,
    onError: warn('subscribed run not read'),
  });
  const onError = (error: unknown) => log.error({ error }, 'socket message failed');
  const sockets = new Sockets({ ...adapters, ...signIn, ...clients, rate, limits, subscriptions, onError });
  const longRequests = new LongRequests(limits, connections);
  const runWatches = new RunWatches(adapters.runs, { runs: subscriptions, threads: threadSubscriptions }, longRequests);

  const keysInFlight = new KeysInFlight(adapters.idempotencyKeys, warn('idempotency key not stored'));
  return {
    ...adapters,
    ...signIn,
    ...clients,
    ...services,
    ...{ config, log, operator, limits, rate, longRequests, runWatches, catalog },
    ...composeTriggers({ ...adapters, ...services, authenticator, limits, accountRate, config, log }),
    ...composeWebhooks({ ...adapters, config, log }),
    ...composeMcpConnections({ ...adapters, ...services, config, log }),
    keysInFlight,
    idempotentMessages: new IdempotentMessages(keysInFlight),
    rewinds,
    ...composeSandboxes({ ...adapters, runWatches, sandboxService }),
    deploymentHealth: new DeploymentHealth({ ...adapters, ...services, subscriptions, connections }),
    traceLinks: new TraceLinks(config.TRACE_URL),
    ...composeUploads(adapters, { quotas: services.quotas, limits, config }),
    subscriptions,
    threadSubscriptions,
    streamMetrics,
    sockets,
    allowedMethods: new AllowedMethods(),
    /** Ends streams and sockets, so that their clients reconnect elsewhere. Requests still need the adapters. */
    disconnectClients: () => {
      subscriptions.close();
      connections.close();
      operator.close();
    },
    close: async () => {
      await keysInFlight.close();
      await signIn.keyUses.close();
      await closeAdapters(adapters);
    },
  };
}

/** Everything that `compose` has built. */
export type GatewayParts = ReturnType<typeof compose>;

/** How many requests a key, and an account with all its keys, may make. */
function composeRates(
  { accountRequests }: Pick<Adapters, 'accountRequests'>,
  config: GatewayConfig,
  warn: ReturnType<typeof warnTo>,
) {
  const onError = warn('requests of an account not counted');
  const perAccount = new AccountQuota(accountRequests, { perSecond: config.ACCOUNT_RATE_LIMIT_PER_SECOND, onError });
  const perKey = new RateLimiter(config.RATE_LIMIT_PER_SECOND, { policy: 'key' });
  const perClient = new RateLimiter(config.CLIENT_RATE_LIMIT_PER_SECOND, { policy: 'client' });
  return { accountRate: perAccount, rate: new RequestRate({ perKey, perClient, perAccount }) };
}

/** Files that requests bring. */
function composeUploads(
  { files, skills }: Pick<Adapters, 'files' | 'skills'>,
  { quotas, limits, config }: { quotas: AccountQuotas; limits: ConcurrencyLimits; config: GatewayConfig },
) {
  const fileUploads = new FileUploads(files, {
    fileBytes: config.FILE_LIMIT_BYTES,
    readAccountBytes: (account) => quotas.readLimit(account, 'file_bytes'),
    memory: limits.memory,
  });
  return {
    fileUploads,
    skillUploads: new SkillUploads(skills, limits.memory),
    formBodies: new FormBodies(fileUploads, config.BODY_LIMIT_BYTES),
  };
}

/** What people do in sandboxes by themselves, and the sites that runs publish from them. */
function composeSandboxes(
  parts: Adapters & { readonly runWatches: RunWatches; readonly sandboxService: SandboxService },
) {
  const { sandboxService } = parts;
  return {
    sandboxService,
    commandAccess: new CommandAccess(sandboxService, parts.runWatches),
    browserAccess: new BrowserAccess(parts),
    siteService: new SiteService(parts),
  };
}

/** What client tokens reach, and what they may ask for. */
function composeClients({ audiences }: Pick<Adapters, 'audiences'>) {
  const clientReach = new ClientReach(audiences);
  return { clientReach, clientRequests: new ClientRequests(clientReach) };
}

const warnTo = (log: Logger) => (message: string) => (error: unknown) => {
  log.warn({ error }, message);
};

function connect(config: GatewayConfig, log: Logger, tracing: Tracing) {
  const { DATABASE_URL, DATABASE_POOL_SIZE, REDIS_URL, NATS_URL } = config;
  const link = connectNats({ url: NATS_URL, name, log });
  const workSignal = new WorkSignal(link);
  const threadLimits = { messages: config.THREAD_MAX_MESSAGES, bytes: config.THREAD_MAX_BYTES };
  const database = openDatabase({ url: DATABASE_URL, poolSize: DATABASE_POOL_SIZE, log });
  const options = natsTransportOptions({ url: NATS_URL, name });
  const client = ClientProxyFactory.create({ transport: Transport.NATS, options });
  return {
    database,
    ...composeTraces(database, tracing, warnTo(log)('end of a run not traced')),
    accounts: new Accounts(database, newUlid),
    storedSettings: new StoredSettings(database),
    clientTokens: new ClientTokens(database, newUlid),
    users: new Users(database),
    audiences: new Audiences(database),
    agents: new Agents(database, newUlid),
    agentVersions: new AgentVersions(database),
    projects: new Projects(database, newUlid),
    publicReads: new PublicReads(database),
    threads: new Threads(database, newUlid),
    facadeIds: new FacadeIds(database, newUlid),
    messages: new Messages(database, newUlid, threadLimits),
    blobs: new Blobs(database),
    mcpTools: new McpToolDefinitions(database, newUlid),
    files: new Files(database, newUlid),
    runs: new Runs(database, newUlid, threadLimits),
    usage: new UsageLedger(database),
    balances: new Balances(database, newUlid),
    outbox: new Outbox(database),
    idempotencyKeys: new IdempotencyKeys(database),
    queues: new RunQueues({ connection: producerConnection(REDIS_URL), log }),
    sandboxes: new Sandboxes(database, newUlid),
    schedules: new Schedules(database, newUlid),
    firings: new Firings(database, newUlid),
    executions: new Executions(database),
    sessions: new Sessions(database, newUlid),
    secrets: new Secrets(database),
    evaluations: new Evaluations(database, newUlid),
    skills: new Skills(database, newUlid),
    memoryStores: new MemoryStores(database, newUlid),
    memoryEntries: new MemoryEntries(database),
    secretUses: new SecretUses(database),
    webhookTriggers: new WebhookTriggers(database, newUlid),
    auditLog: new AuditLog(database, newUlid),
    link,
    workSignal,
    rest: new Rest({
      signal: workSignal,
      work: new WorkAhead(database, ['activeRuns', 'deliveries', 'schedules', 'executions']),
    }),
    feed: new DeferredRunFeed(link),
    factMetrics: new FactMetrics(),
    workers: new WorkerSignals(client, warnTo(log)('signal to the workers was lost')),
    accountRequests: new SharedQuota({ url: REDIS_URL, perSecond: config.ACCOUNT_RATE_LIMIT_PER_SECOND }),
    queueShares: new QueueShares({ url: REDIS_URL }),
  };
}

type Adapters = ReturnType<typeof connect>;

async function closeAdapters({ accountRequests, closeTraces, database, ...parts }: Adapters): Promise<void> {
  accountRequests.close();
  parts.queueShares.close();
  await Promise.all([parts.queues.close(), parts.feed.close(), parts.workers.close(), closeTraces()]);
  await database.close();
}

function toServices(
  adapters: Adapters & { readonly rewinds: Rewinds; readonly sandboxService: SandboxService },
  { providers, names }: ModelCatalog,
  { config, warn }: { config: GatewayConfig; warn: ReturnType<typeof warnTo> },
) {
  const secrets = config.SECRETS_KEY === undefined ? undefined : new SecretBox(config.SECRETS_KEY, 'mcp');
  const toolCatalog = new ToolCatalog(adapters.link);
  const executors = () => toolCatalog.executors ?? [];
  const settings = new RunSettingsResolver({ providers, ...names, ...runBudgets(config), secrets, executors });
  const agentService = new AgentService({ ...adapters, settings, box: secrets });
  const onError = warn('jobs left to the sweeper');
  const { runs, balances } = adapters;
  const accountLimits = new AccountLimits({ tiers: readTiers(config.ACCOUNT_TIERS), balances, providers });
  const quotas = new AccountQuotas({
    limits: quotaLimits(config),
    readUsage: (account) => readQuotaUsage(adapters.database, account),
    readRunMinutes: (account) => readRunMinutes(adapters.database, account),
    readWaitingCallBytes: (account) => readWaitingCallBytes(adapters, account),
    measureKeptFiles: (account) => adapters.sandboxService.measureKeptFiles(account),
    readTier: (account) => accountLimits.readTier(account),
    onError: warn('use of an account not read'),
  });
  const quota = new ActiveRunQuota(config.MAX_ACTIVE_RUNS_PER_ACCOUNT, runs.countActive.bind(runs));
  const runService = composeRunService({
    ...adapters,
    settings,
    agents: agentService,
    accountLimits,
    quota,
    quotas,
    memory: { stores: adapters.memoryStores, entries: adapters.memoryEntries },
    onError,
  });
  const mcpDiscovery = new McpDiscoveryService({ link: adapters.link, secrets, startMs: config.MCP_START_S * 1_000 });
  const signsOfLife = new SignsOfLife(adapters.link, () => toolCatalog.executors);
  const runWaits = new RunWaits({
    ...adapters,
    signsOfLife,
    executors: adapters.sandboxService,
    findHolder: (run) => findHolder(adapters.database, run),
  });
  return {
    toolCatalog,
    signsOfLife,
    settings,
    accountLimits,
    runQuota: quota,
    quotas,
    agentService,
    runService,
    auditedRuns: new AuditedRuns(runService, adapters.auditLog),
    runWaits,
    mcpDiscovery,
    secretService: new SecretService({ stored: adapters.secrets, box: secrets, newId: newUlid }),
  };
}

/** Undefined while Redis is away. */
const readWaitingCallBytes = ({ queueShares }: Pick<Adapters, 'queueShares'>, account: AccountId) =>
  queueShares.read(account).then(
    ({ bytes }) => bytes,
    () => undefined,
  );
