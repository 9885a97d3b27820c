import { type ModelProviders, readProviders, usualThreadLimits } from '@rondo/domain';
import { count, loadConfig, modelServerVariables, port, serverVariables, serviceVariables } from '@rondo/platform';
import { z } from 'zod';

export const environment = z.object({
  ...serviceVariables,
  ...serverVariables(10),
  ...modelServerVariables,
  PORT: port.default(3000),
  RONDO_ADMIN_KEY: z
    .string()
    .min(16)
    .describe('The API key of the account that runs this installation. `npm start` makes one: `.data/api-key`.'),
  DEFAULT_MODEL: z.string().default('demo/coder').describe('The model of a run that names none.'),
  MODEL_KEYS_PRESENT: z
    .string()
    .default('')
    .meta({
      description:
        'The names of the key variables that agent-worker has, with commas. The keys are none of this service’s business. ' +
        '`npm start` and the compose file say it.',
      example: 'OPENAI_API_KEY,VLLM_KEY',
      otherwise: 'none',
    }),
  BODY_LIMIT_BYTES: count.default(10 * 1024 * 1024).meta({
    description: 'The longest request that is read.',
    unit: 'bytes',
  }),
  THREAD_MAX_MESSAGES: count.default(usualThreadLimits.messages).meta({
    description: 'A thread with so many messages takes no more messages and runs: `thread_full`.',
  }),
  THREAD_MAX_BYTES: count.default(usualThreadLimits.bytes).meta({
    description: 'The same of the bytes of its messages.',
    unit: 'bytes',
  }),
  RATE_LIMIT_PER_SECOND: z.coerce.number().positive().default(500).meta({
    description: 'Requests of one API key; twice as many may come at once.',
    unit: 'per second',
  }),
  STALL_LIMIT_S: z.coerce.number().positive().default(30).meta({
    description: 'How long a client that watches may leave what it was sent unread.',
    unit: 's',
  }),
});

export type GatewayConfig = z.infer<typeof environment>;

export const readConfig = (): GatewayConfig => loadConfig(environment);

/** Whom the workers can ask for models. */
export function modelProvidersOf({
  DEMO_MODEL_URL,
  MODEL_PROVIDERS,
  MODEL_KEYS_PRESENT,
}: GatewayConfig): ModelProviders {
  const keys = MODEL_KEYS_PRESENT.split(',').map((name) => [name.trim(), 'present'] as const);
  return readProviders({ ...Object.fromEntries(keys), DEMO_MODEL_URL, MODEL_PROVIDERS });
}
