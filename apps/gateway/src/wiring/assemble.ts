import { eventId } from '@rondo/contract';
import { type OutboxEntry, holderOf } from '@rondo/persistence';
import { type Logger, newUlid } from '@rondo/platform';
import { AccountQuota } from '../auth/account-quota';
import { Installation } from '../auth/installation';
import { KeyCheck } from '../auth/key-check';
import { KeyLimits } from '../auth/key-limits';
import { KeyRing } from '../auth/key-ring';
import { OpenConnections } from '../auth/open-connections';
import { RateLimiter } from '../auth/rate-limiter';
import { RequestRate } from '../auth/request-rate';
import { ModelCatalog } from '../catalog/model-catalog';
import { type GatewayConfig, modelProvidersOf } from '../config';
import { IdempotentMessages } from '../idempotency/idempotent-messages';
import { RunSubscriptions } from '../live/run-subscriptions';
import { runSourcesOf } from '../live/run-sources-of';
import { Sockets } from '../live/sockets';
import { AllowedMethods } from '../problems/allowed-methods';
import { runBudgets } from '../runs/run-budgets';
import { ActiveRunQuota } from '../runs/active-run-quota';
import { RunService } from '../runs/run-service';
import { Infrastructure } from './infrastructure';

const liveSettings = {
  pollMs: 2_000,
  retryMs: 500,
  feedReadyMs: 300,
  heldEvents: 2_000,
  streams: { keptText: 4 * 1024 * 1024, rememberedStreams: 256 },
} as const;

/** Everything that has no decorator, built by hand. */
export function assemble(config: GatewayConfig, log: Logger) {
  const infrastructure = new Infrastructure(config, log);
  const { accounts } = infrastructure;
  const noted = (message: string) => (error: unknown) => {
    log.warn({ error }, message);
  };

  const keys = new KeyRing((key) => accounts.verify(key));
  const handshakes = new RateLimiter(config.HANDSHAKES_PER_SECOND, { policy: 'address' });
  const keyCheck = new KeyCheck({ keys, handshakes, trustedHops: config.TRUSTED_PROXY_HOPS });
  const limits = new KeyLimits(config);
  const rate = requestRate(infrastructure, config, noted('requests of an account not counted'));
  const connections = new OpenConnections(
    (keyIds) => accounts.revokedOf(keyIds),
    noted('keys of open connections not checked'),
  );
  const installation = new Installation(async () => {
    const admin = await accounts.seedAdmin(config.RONDO_ADMIN_KEY);
    if (admin.isRevoked) log.warn('the configured admin key was revoked: configure another one');
    return admin;
  }, noted('admin key not seeded yet'));
  const catalog = new ModelCatalog(modelProvidersOf(config), config.DEFAULT_MODEL);
  const ports = deskPorts(infrastructure, noted('jobs left to the sweeper'));
  const desk = new RunService(
    { ...ports, quota: activeRunQuota(infrastructure, config) },
    { defaultModel: catalog.defaultModel, providers: catalog.providers, ...runBudgets(config) },
  );
  const messages = new IdempotentMessages(infrastructure.idempotencyKeys, noted('idempotency key not let go'));
  const hub = liveHub(infrastructure, config.STALL_LIMIT_S * 1000, noted('watched run not read'));
  const sockets = new Sockets({
    keyCheck,
    rate,
    limits,
    connections,
    hub,
    onTrouble: (error) => {
      log.error({ error }, 'socket request failed');
    },
  });
  const allowedMethods = new AllowedMethods();
  return {
    config,
    log,
    infrastructure,
    keys,
    keyCheck,
    rate,
    limits,
    connections,
    installation,
    catalog,
    desk,
    messages,
    hub,
    sockets,
    allowedMethods,
  };
}

export type Parts = ReturnType<typeof assemble>;

function requestRate(
  { accountRequests }: Infrastructure,
  config: GatewayConfig,
  onTrouble: (error: unknown) => void,
): RequestRate {
  const perKey = new RateLimiter(config.RATE_LIMIT_PER_SECOND, { policy: 'key' });
  const perSecond = config.ACCOUNT_RATE_LIMIT_PER_SECOND;
  return new RequestRate(perKey, new AccountQuota(accountRequests, { perSecond, onTrouble }));
}

function activeRunQuota({ runs }: Infrastructure, config: GatewayConfig): ActiveRunQuota | undefined {
  const most = config.MAX_ACTIVE_RUNS_PER_ACCOUNT;
  return most === undefined ? undefined : new ActiveRunQuota(most, runs.countActive.bind(runs));
}

function deskPorts({ runs, outbox, queues, feed, workers }: Infrastructure, onTrouble: (error: unknown) => void) {
  const add = ({ queue, payload: { run_id: runId, thread_id: threadId, activation } }: OutboxEntry) =>
    queues.add(queue, { runId, threadId, activation });
  return {
    runs,
    publishJobs: () => {
      outbox.publish(add).catch(onTrouble);
    },
    publishJob: (job: OutboxEntry) => {
      outbox.hand(job, add).catch(onTrouble);
    },
    publishFacts: feed.publish.bind(feed),
    signalStop: workers.stop.bind(workers),
  };
}

function liveHub(
  { database, runs, feed, workers }: Infrastructure,
  stallLimitMs: number,
  onTrouble: (error: unknown) => void,
): RunSubscriptions {
  const mint = () => eventId.parse(`evt_${newUlid()}`);
  const sources = runSourcesOf({ runs, holderOf: (run) => holderOf(database, run), feed, workers, mint });
  return new RunSubscriptions(sources, { ...liveSettings, stallLimitMs, mint, onTrouble });
}
