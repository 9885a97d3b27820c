import { count } from '@rondo/platform';
import { usualQueueShare } from '@rondo/messaging';
import { mostTriggers, mostWebhookEndpoints } from '@rondo/persistence';
import type { z } from 'zod';
import type { QuotaLimits } from './account-quotas';

const gib = 1024 ** 3;

/** What an account may have; a tier may set other quotas. */
export const quotaVariables = {
  ACCOUNT_API_KEYS: count.default(100).meta({ description: 'The API keys of one account that are not revoked.' }),
  ACCOUNT_THREADS: count.default(100_000).meta({ description: 'The threads of one account that are not deleted.' }),
  ACCOUNT_MESSAGE_BYTES: count.default(8 * gib).meta({
    description: 'The messages of one account in all its threads, together.',
    unit: 'bytes',
  }),
  ACCOUNT_IMAGE_BYTES: count.default(gib).meta({
    description: 'The images in the messages of one account, together.',
    unit: 'bytes',
  }),
  ACCOUNT_FILE_BYTES: count.default(gib).meta({
    description: 'The uploaded files of one account, together.',
    unit: 'bytes',
  }),
  ACCOUNT_WORKSPACES: count.default(1_000).meta({
    description: 'The workspaces of one account: one of each thread, or project, in which a tool has run.',
  }),
  MAX_ACTIVE_RUNS_PER_ACCOUNT: count.default(1_000).meta({
    description: 'Active runs of one account, including those that wait for a person or for their thread.',
  }),
};

type QuotaVariables = z.infer<z.ZodObject<typeof quotaVariables>>;

export const quotaLimits = (config: QuotaVariables): QuotaLimits => ({
  api_keys: config.ACCOUNT_API_KEYS,
  threads: config.ACCOUNT_THREADS,
  message_bytes: config.ACCOUNT_MESSAGE_BYTES,
  image_bytes: config.ACCOUNT_IMAGE_BYTES,
  file_bytes: config.ACCOUNT_FILE_BYTES,
  workspaces: config.ACCOUNT_WORKSPACES,
  active_runs: config.MAX_ACTIVE_RUNS_PER_ACCOUNT,
  triggers: mostTriggers,
  webhook_endpoints: mostWebhookEndpoints,
  waiting_call_bytes: usualQueueShare,
  run_minutes: Infinity, // only a tier limits them
});
