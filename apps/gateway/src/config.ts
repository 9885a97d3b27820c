import { usualThreadLimits } from '@rondo/contract';
import { type ModelProviders, readProviders } from '@rondo/domain';
import {
  count,
  loadConfig,
  modelServerVariables,
  port,
  previewUrl,
  secretsKey,
  serverVariables,
  serviceVariables,
} from '@rondo/platform';
import { z } from 'zod';
import { runBudgetVariables } from './runs/run-budgets';

export const environment = z.object({
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
  DEFAULT_MODEL: z.string().default('demo/coder').describe('The model of a run that names none.'),
  ...runBudgetVariables,
  SECRETS_KEY: secretsKey,
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
  FILE_LIMIT_BYTES: count.default(100 * 1024 * 1024).meta({
    description: 'The longest file that may be uploaded, or written into a sandbox over REST.',
    unit: 'bytes',
  }),
  ACCOUNT_FILE_BYTES: count.default(10 * 1024 * 1024 * 1024).meta({
    description: 'The uploaded files of one account, together.',
    unit: 'bytes',
  }),
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
  ACCOUNT_RATE_LIMIT_PER_SECOND: count.default(5_000).meta({
    description:
      'Requests of one account, over all its keys and all gateways that share a Redis. While Redis is away each gateway counts alone.',
    unit: 'per second',
  }),
  MAX_ACTIVE_RUNS_PER_ACCOUNT: count.optional().meta({
    description: 'Active runs of one account, including those that wait for a person or for their thread.',
    otherwise: 'any number',
  }),
  BODY_BYTES_PER_KEY: count.default(64 * 1024 * 1024).meta({
    description:
      'Bytes of the requests of one API key that are being read or answered, on one gateway. One without a Content-Length ' +
      'counts as BODY_LIMIT_BYTES.',
    unit: 'bytes',
  }),
  SOCKETS_PER_KEY: count.default(2_000).meta({ description: 'Sockets of one API key that are open, on one gateway.' }),
  STREAMS_PER_KEY: count.default(2_000).meta({
    description: 'Event streams of one API key that are open, on one gateway.',
  }),
  WAITS_PER_KEY: count.default(2_000).meta({
    description: 'Requests of one API key that wait for a run, on one gateway.',
  }),
  HANDSHAKES_PER_SECOND: z.coerce.number().positive().default(100).meta({
    description:
      'Sockets that one address opens, plus its requests with keys that must be looked up; twice as many may come at once.',
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
  STALL_LIMIT_S: z.coerce.number().positive().default(30).meta({
    description: 'How long a subscriber may leave sent events unread before it is disconnected.',
    unit: 's',
  }),
});

export type GatewayConfig = z.infer<typeof environment>;

export const readConfig = (): GatewayConfig => loadConfig(environment);

/** The model providers that the workers have. */
export function modelProvidersOf({
  DEMO_MODEL_URL,
  MODEL_PROVIDERS,
  MODEL_PRICES,
  MODEL_KEYS_PRESENT,
}: GatewayConfig): ModelProviders {
  const keys = MODEL_KEYS_PRESENT.split(',').map((name) => [name.trim(), 'present'] as const);
  return readProviders({ ...Object.fromEntries(keys), DEMO_MODEL_URL, MODEL_PROVIDERS, MODEL_PRICES });
}
