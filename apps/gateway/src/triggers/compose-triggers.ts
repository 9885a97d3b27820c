import type { WorkSignal } from '@rondo/messaging';
import type { Executions } from '@rondo/persistence';
import { type Logger, SecretBox, newUlid } from '@rondo/platform';
import { PeriodicTasks, type Rest } from '@rondo/run-holder';
import type { AgentServiceDependencies } from '../agents/agent-service';
import type { AccountQuota } from '../auth/account-quota';
import type { Authenticator } from '../auth/authenticator';
import type { ConcurrencyLimits } from '../auth/concurrency-limits';
import type { AccountLimits } from '../billing/account-limits';
import type { GatewayConfig } from '../config';
import { RateLimiter } from '../auth/rate-limiter';
import { ScheduleFiring } from './schedule-firing';
import { ScheduleService, type ScheduleServiceDependencies } from './schedule-service';
import { TriggerRules } from './trigger-rules';
import { WebhookBodyReader } from './webhook-body-reader';
import { WebhookReceiver } from './webhook-receiver';
import { WebhookTriggerService, type WebhookTriggerServiceDependencies } from './webhook-trigger-service';

const everyMs = 1_000;
const pruneEveryMs = 600_000;

/** Webhooks per second; twice as many may come at once. */
const webhooksPerSecond = { address: 50, trigger: 20 };

type Services = Omit<
  ScheduleServiceDependencies & WebhookTriggerServiceDependencies,
  'newId' | 'rules' | 'secrets' | 'leastIntervalS'
>;

interface TriggerParts extends Services, Pick<AgentServiceDependencies, 'agents' | 'settings'> {
  readonly executions: Executions;
  readonly authenticator: Authenticator;
  readonly limits: ConcurrencyLimits;
  readonly accountLimits: AccountLimits;
  readonly accountRate: AccountQuota;
  readonly config: Pick<GatewayConfig, 'SECRETS_KEY' | 'SCHEDULE_LEAST_INTERVAL_S'>;
  readonly log: Logger;
  readonly rest: Rest;
  readonly workSignal: WorkSignal;
}

/** Every gateway fires schedules, and receives webhooks; see docs/decisions/0069 and 0070. */
export function composeTriggers({ log, config, accountLimits, accountRate, ...parts }: TriggerParts) {
  const { SECRETS_KEY: secretsKey, SCHEDULE_LEAST_INTERVAL_S: leastIntervalS } = config;
  const onError = (error: unknown) => {
    log.warn({ error }, 'trigger not fired');
  };
  const rules = new TriggerRules(parts.agents, parts.settings);
  const secrets = secretsKey === undefined ? undefined : new SecretBox(secretsKey, 'triggers');
  const made = { ...parts, rules, secrets, newId: newUlid, onError };
  const firing = new ScheduleFiring({ ...made, spendRequest: (account) => accountRate.consume(account) });
  const tasks = new PeriodicTasks(
    {
      look: parts.rest.task,
      schedules: { everyMs, work: parts.rest.unlessResting(() => firing.pass()) },
      executions: { everyMs: pruneEveryMs, work: () => parts.executions.prune() },
    },
    (task, error) => log.warn({ task, error }, 'periodic task failed'),
  );
  const toRate = (policy: keyof typeof webhooksPerSecond) => new RateLimiter(webhooksPerSecond[policy], { policy });
  return {
    tasks,
    scheduleService: new ScheduleService({
      ...made,
      leastIntervalS: async (account) =>
        (await accountLimits.readTier(account))?.schedule_least_interval_s ?? leastIntervalS,
    }),
    webhookTriggerService: new WebhookTriggerService(made),
    webhookReceiver: new WebhookReceiver({ ...made, rate: toRate('trigger') }),
    webhookBodyReader: new WebhookBodyReader({
      ...made,
      rate: toRate('address'),
      memory: parts.limits.memory,
    }),
  };
}
