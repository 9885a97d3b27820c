import { type RequestedFallbacks, usualThreadLimits } from '@rondo/contract';
import {
  type ModelFallbacks,
  type ModelProviders,
  jsonSettingsAreReadable,
  leastInterval,
  readAliases,
  readFallbacks,
  readProviders,
  usualModel,
  whyNotConfigured,
} from '@rondo/domain';
import {
  accountVariables,
  commaSeparated,
  count,
  guardedProxyVariables,
  internalHost,
  loadConfig,
  mcpVariables,
  modelServerVariables,
  modelVariables,
  network,
  port,
  previewUrl,
  reachVariables,
  samplingVariables,
  secretsKey,
  serverVariables,
  serviceVariables,
  tracingVariables,
} from '@rondo/platform';
import { z } from 'zod';
import { issuerNeedsAudience, oidcVariables } from './auth/oidc/oidc-variables';
import { quotaVariables } from './billing/quota-variables';
import { pageOrigin } from './http/allowed-origins';
import { runBudgetVariables } from './runs/run-budgets';
import { traceLinkVariables } from './runs/trace-links';

export const environment = z
  .object({
    ...serviceVariables,
    ...serverVariables(10),
    ...modelServerVariables,
    PORT: port.default(3000),
    RONDO_ADMIN_KEY: z
      .string()
      .min(16)
      .describe(
        'The API key of the account that operates this deployment. `npm start` creates one: `.data/api-key`. Changing it revokes the former one; a revoked key stays revoked.',
      ),
    DEFAULT_MODEL: z.string().min(1).optional().meta({
      description: 'The model of a run that names none, or its alias.',
      otherwise:
        '`openai/gpt-5.1` if there is a key for OpenAI, else `anthropic/claude-sonnet-5` if there is one for Anthropic, else `demo/coder`. Name one for another server in their place',
    }),
    MODEL_ALIASES: z.string().optional().meta({
      description:
        'Short names of models, as JSON. A run that names one gets the model that it stands for at that moment.',
      example: '{"fast":"openai/gpt-5-mini","sonnet":"anthropic/claude-sonnet-5"}',
      otherwise: 'none',
    }),
    MODEL_FALLBACKS: z.string().optional().meta({
      description:
        'The models that stand in for others, as JSON: a list by the full name of each, for runs that name no `fallbacks`. See docs/add-a-provider.md.',
      example:
        '{"anthropic/claude-sonnet-5":["openrouter/anthropic/claude-sonnet-5",{"model":"openai/gpt-5","on":["service_unavailable"]}]}',
      otherwise: 'a model that fails, fails the run',
    }),
    OPENAI_BASE_URL: modelVariables.OPENAI_BASE_URL,
    ANTHROPIC_BASE_URL: modelVariables.ANTHROPIC_BASE_URL,
    ...runBudgetVariables,
    ...accountVariables,
    SECRETS_KEY: secretsKey,
    ...mcpVariables,
    MODEL_KEYS_PRESENT: z
      .string()
      .default('')
      .meta({
        description:
          'The names of the key variables that agent-worker has, separated by commas. This service does not get the keys. ' +
          '`npm start` and the compose file set it.',
        example: 'OPENAI_API_KEY,VLLM_KEY',
        otherwise: 'none',
      }),
    BODY_LIMIT_BYTES: count.default(10 * 1024 * 1024).meta({
      description: 'The longest request body that is accepted.',
      unit: 'bytes',
    }),
    PREVIEW_URL: previewUrl,
    PUBLIC_URL: z
      .url({ protocol: /^https?$/, error: 'must be a URL with http or https' })
      .optional()
      .meta({
        description:
          'Where users reach the gateway, if a reverse proxy has put it below a path ([reverse proxies](reverse-proxy.md#below-a-path)), or gives it another host or scheme than users see: [agent cards](facades/a2a.md) have it.',
        example: 'https://example.com/rondo',
        otherwise: 'at the root of its host',
      }),
    FILE_LIMIT_BYTES: count.default(100 * 1024 * 1024).meta({
      description: 'The longest file that may be uploaded, or written into a sandbox over REST.',
      unit: 'bytes',
    }),
    ...quotaVariables,
    THREAD_MAX_MESSAGES: count.default(usualThreadLimits.messages).meta({
      description: 'A thread with this many messages accepts no more messages and runs: `thread_full`.',
    }),
    THREAD_MAX_BYTES: count.default(usualThreadLimits.bytes).meta({
      description: 'The same for the bytes of its messages.',
      unit: 'bytes',
    }),
    RATE_LIMIT_PER_SECOND: z.coerce.number().positive().default(500).meta({
      description: 'Requests of one API key; twice as many may come at once.',
      unit: 'per second',
    }),
    CLIENT_RATE_LIMIT_PER_SECOND: z.coerce.number().positive().default(20).meta({
      description:
        'Requests of the client tokens of one person, or of one thread, together; twice as many may come at once. They count for the account, too.',
      unit: 'per second',
    }),
    ACCOUNT_RATE_LIMIT_PER_SECOND: count.default(5_000).meta({
      description:
        'Requests of one account, over all its keys and all gateways that share a Redis. While Redis is away each gateway counts alone.',
      unit: 'per second',
    }),
    SCHEDULE_LEAST_INTERVAL_S: z.coerce.number().pipe(leastInterval).default(60).meta({
      description: 'The least time between two due times of a schedule. A tier may set another one.',
      unit: 's',
    }),
    MEMORY_BUDGET_BYTES: count.optional().meta({
      description:
        'What one gateway holds for its clients at a time: requests that are being read or answered, unfinished messages, ' +
        'sockets and subscriptions. One account may hold half of what the others leave.',
      unit: 'bytes',
      otherwise: 'half of the memory that the process may use, and twice BODY_LIMIT_BYTES at least',
    }),
    SOCKETS_PER_ACCOUNT: count
      .default(2_000)
      .meta({ description: 'Sockets of one account that are open, on one gateway.' }),
    STREAMS_PER_ACCOUNT: count.default(2_000).meta({
      description: 'Event streams of one account that are open, on one gateway.',
    }),
    WAITS_PER_ACCOUNT: count.default(2_000).meta({
      description: 'Requests of one account that wait for a run, on one gateway.',
    }),
    HANDSHAKES_PER_SECOND: z.coerce.number().positive().default(100).meta({
      description:
        'Sockets that one address opens, and apart from them its requests with keys that there are not; twice as many may come at once.',
      unit: 'per second',
    }),
    SESSION_HOURS: z.coerce.number().positive().max(720).default(12).meta({
      description: 'How long a browser stays signed in.',
      unit: 'h',
    }),
    SESSION_LINK_MINUTES: z.coerce.number().positive().max(1_440).default(10).meta({
      description: 'How long a link that signs a browser in can be used.',
      unit: 'min',
    }),
    ...oidcVariables,
    ...tracingVariables,
    ...guardedProxyVariables,
    ...samplingVariables,
    ...traceLinkVariables,
    TRUSTED_PROXY_HOPS: z.coerce
      .number()
      .int()
      .min(0)
      .default(0)
      .meta({
        description:
          'Number of proxies in front of the gateway that append to X-Forwarded-For. With 0, all clients behind a proxy ' +
          'have one address.',
      }),
    ALLOWED_ORIGINS: commaSeparated
      .pipe(z.array(pageOrigin))
      .optional()
      .meta({
        description:
          'Origins whose pages may call the API with a key, separated by commas (CORS). A session counts only on pages of the ' +
          'gateway itself.',
        example: 'https://app.example.com,http://localhost:5173',
        otherwise: 'none',
      }),
    ...reachVariables,
    WEBHOOK_INTERNAL_HOSTS: commaSeparated.pipe(z.array(internalHost)).optional().meta({
      description:
        'Hosts with private addresses, or without TLS, that webhooks may be sent to: `host:port`, separated by commas.',
      example: 'billing.internal:8080',
      otherwise: 'none',
    }),
    WEBHOOK_DENIED_NETWORKS: commaSeparated.pipe(z.array(network)).optional().meta({
      description:
        'Public networks that no webhook is sent to, separated by commas; for example those of services that trust this host.',
      example: '203.0.113.0/24,2001:db8::/32',
      otherwise: 'none',
    }),
    STALL_LIMIT_S: z.coerce.number().positive().default(30).meta({
      description:
        'How long a client may take nothing of what is sent to it, of events or of an answer, before it is disconnected.',
      unit: 's',
    }),
  })
  .check(issuerNeedsAudience, jsonSettingsAreReadable);

export type GatewayConfig = z.infer<typeof environment>;

export const readConfig = (): GatewayConfig => loadConfig(environment);

/** The model providers that the workers have. */
export function toModelProviders({ MODEL_KEYS_PRESENT, ...config }: GatewayConfig): ModelProviders {
  const keys = MODEL_KEYS_PRESENT.split(',').map((name) => [name.trim(), 'present'] as const);
  const { DEMO_MODEL_URL, MODEL_PROVIDERS, MODEL_PRICES, OPENAI_BASE_URL, ANTHROPIC_BASE_URL } = config;
  const servers = { DEMO_MODEL_URL, MODEL_PROVIDERS, MODEL_PRICES, OPENAI_BASE_URL, ANTHROPIC_BASE_URL };
  return readProviders({ ...Object.fromEntries(keys), ...servers });
}

/** The models as users may name them, the one of a run that names none, and those that stand in for others. */
export function toModelNames(config: GatewayConfig, providers: ModelProviders) {
  const aliases = readAliases(config.MODEL_ALIASES);
  const fullName = (name: string) => aliases.get(name) ?? name;
  const isUsable = (one: RequestedFallbacks[number]) =>
    whyNotConfigured(fullName(typeof one === 'string' ? one : one.model), providers) === undefined;
  const chains = [...readFallbacks(config.MODEL_FALLBACKS)];
  const fallbacks: ModelFallbacks = new Map(chains.map(([model, chain]) => [model, chain.filter(isUsable)]));
  return { aliases, fallbacks, defaultModel: fullName(config.DEFAULT_MODEL ?? usualModel(providers)) };
}
