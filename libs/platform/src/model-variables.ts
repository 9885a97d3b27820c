import { z } from 'zod';
import { type proxyVariables, readProxySettings } from './outbound/outbound-proxy';
import { count, milliseconds } from './service-variables';

const text = z.string().optional();

export const modelServerVariables = {
  DEMO_MODEL_URL: text.meta({
    description: 'The demo model, for `demo/` models.',
    example: 'http://127.0.0.1:4010',
    otherwise: 'there are no `demo/` models',
  }),
  MODEL_PROVIDERS: text.meta({
    description:
      'Further model servers, as JSON. The example gives the model `vllm/llama3`; its key is in the variable `VLLM_KEY`. ' +
      'See docs/add-a-provider.md.',
    example:
      '[{"name":"vllm","base_url":"http://gpu:8000/v1","api_key_variable":"VLLM_KEY","models":[{"id":"llama3"}]}]',
    otherwise: 'none',
  }),
  MODEL_PRICES: text.meta({
    description:
      'Prices of models, as JSON: USD per million tokens, and the date (UTC) from which they are valid. They come before the ' +
      'known ones. See docs/billing.md.',
    example: '{"openai/gpt-5":[{"input":1,"output":8},{"from":"2027-01-01","input":2,"output":9}]}',
    otherwise: 'the known prices',
  }),
};

/** Of the gateway, and of services that write what models used. */
export const accountVariables = {
  ACCOUNT_TIERS: text.meta({
    description:
      'What accounts may use, as JSON: tiers by name, and the one of accounts that have none. The same for the gateway, the ' +
      'workers and the summarizer. See docs/billing.md.',
    example:
      '{"default":"free","tiers":{"free":{"usd":5,"allowed_models":["openai/gpt-5-mini"],"max_active_runs":2},"pro":{"usd":100}}}',
    otherwise: 'accounts are not limited',
  }),
};

/** Variables of services that call models. */
export const modelVariables = {
  OPENAI_API_KEY: text.meta({ description: 'The key for `openai/` models.', otherwise: 'there are none' }),
  OPENAI_BASE_URL: text.meta({
    description: 'Another server with OpenAI’s API. If it needs no key, set `OPENAI_API_KEY` to any value.',
    otherwise: 'OpenAI’s own',
  }),
  ANTHROPIC_API_KEY: text.meta({ description: 'The key for `anthropic/` models.', otherwise: 'there are none' }),
  ANTHROPIC_BASE_URL: text.meta({
    description: 'Another server with Anthropic’s API.',
    otherwise: 'Anthropic’s own',
  }),
  ...modelServerVariables,
};

/** How patient those services are with providers that fail before they begin a reply. */
export const modelRetryVariables = {
  MODEL_ATTEMPTS: count
    .max(20)
    .default(5)
    .describe(
      'How often a model is asked in all until it begins a reply, if its provider fails for a reason that may pass: it cannot be reached, is overloaded, or limits the rate. Then another model stands in, or the run fails.',
    ),
  MODEL_RETRY_DELAY_MS: milliseconds
    .default(500)
    .describe(
      'The pause after the first of these attempts, give or take a fifth. It doubles with each further one, to five minutes at most; with 8 attempts, runs outlast a provider that is away for a minute. A pause that the provider asks for comes first.',
    ),
  MODEL_RATE_LIMIT_DELAY_MS: milliseconds
    .default(30_000)
    .describe('The same where the provider limits the rate and asks for no pause of its own.'),
};

type ModelConnection = z.infer<z.ZodObject<typeof modelRetryVariables & typeof proxyVariables>>;

/** How model servers are reached and how often they are asked, in the words of `createModels`. */
export const readModelConnection = (config: ModelConnection) => ({
  retries: {
    attempts: config.MODEL_ATTEMPTS,
    delayMs: config.MODEL_RETRY_DELAY_MS,
    rateLimitDelayMs: config.MODEL_RATE_LIMIT_DELAY_MS,
  },
  proxies: readProxySettings(config),
});
