import {
  accountVariables,
  commaSeparated,
  count,
  guardedProxyVariables,
  holderName,
  internalHost,
  leaseVariables,
  leasesOutliveHeartbeats,
  mcpVariables,
  milliseconds,
  modelRetryVariables,
  modelVariables,
  network,
  serverVariables,
  serviceVariables,
  tracingVariables,
} from '@rondo/platform';
import { hostPattern, jsonSettingsAreReadable } from '@rondo/domain';
import { z } from 'zod';

/** Longer than an absence that makes an executor ask which workspaces it still hosts. */
const leastLostAfterS = 15;

export const environment = z
  .object({
    ...serviceVariables,
    ...serverVariables(8),
    ...modelVariables,
    ...modelRetryVariables,
    ...guardedProxyVariables,
    ...leaseVariables,
    ...accountVariables,
    ...mcpVariables,
    ...tracingVariables,
    WORKER_ID: holderName(''),
    RUN_CONCURRENCY: count.default(100).describe('The number of runs that it holds at the same time.'),
    NATS_STREAM_REPLICAS: z.coerce
      .number()
      .pipe(z.literal([1, 3, 5]))
      .optional()
      .meta({
        description:
          'How many servers of a NATS cluster keep each tool call: 1, 3 or 5. The same for all workers; streams that exist are changed.',
        example: '3',
        otherwise: 'what a stream has, 1 when it is created',
      }),
    EXECUTOR_LOST_AFTER_S: z.coerce
      .number()
      .int()
      .min(0)
      .max(86_400)
      .default(0)
      .refine((seconds) => seconds === 0 || seconds >= leastLostAfterS, {
        message: `must be 0, or at least ${leastLostAfterS}: an executor needs the time to notice that it was away`,
      })
      .meta({
        description:
          'How long nothing is heard of a tool-executor before its workspaces are moved to others, from their last copies (`SANDBOX_SNAPSHOTS` of the tool-executors). `0`: never; its threads wait for it.',
        unit: 's',
      }),
    REAP_MS: milliseconds
      .default(3_000)
      .describe('How often it looks for runs that have neither a holder nor a job, and queues them.'),
    COMPACTION_PATIENCE_MS: milliseconds
      .default(60_000)
      .describe('How long a run waits for a summarizer to claim it. Then it continues without a summary.'),
    LIVENESS_MS: milliseconds
      .default(30_000)
      .describe(
        'How long a periodic task may be overdue, or neither the queue nor Postgres reachable, before `/health/live` fails.',
      ),
    ACCOUNT_BUDGET_USD: z.coerce.number().positive().optional().meta({
      description:
        'What the runs of an account may spend in a period, by the entries of `usage_entries` with a known price. After that, its runs complete with `budget_exceeded`. Model calls in progress can exceed it.',
      unit: 'USD',
      otherwise: 'anything',
    }),
    ACCOUNT_BUDGET_TOKENS: z.coerce.number().positive().optional().meta({
      description: 'The same in tokens, input and output together.',
      unit: 'tokens',
      otherwise: 'anything',
    }),
    ACCOUNT_BUDGET_PERIOD: z
      .enum(['day', 'month'])
      .default('month')
      .describe('The period of ACCOUNT_BUDGET_USD and ACCOUNT_BUDGET_TOKENS; it begins at 0:00 UTC.'),
    IDEMPOTENT_HOSTS: commaSeparated.pipe(z.array(hostPattern)).optional().meta({
      description:
        'Hosts that honour the `Idempotency-Key` header, separated by commas: `host`, `host:port` or `*.host`. A POST or PATCH of `http_request` to one of them may be sent again if its outcome is unknown and the model passed `idempotency: key_honoured`.',
      example: 'api.payments.example,*.internal.example',
      otherwise: 'none: no POST or PATCH is sent twice',
    }),
    IMAGE_INTERNAL_HOSTS: commaSeparated.pipe(z.array(internalHost)).optional().meta({
      description:
        'Hosts with private addresses from which image URLs in messages may be fetched: `host:port`, separated by commas.',
      example: 'images.internal:8080',
      otherwise: 'none',
    }),
    IMAGE_DENIED_NETWORKS: commaSeparated.pipe(z.array(network)).optional().meta({
      description:
        'Public networks from which no image URL is fetched, separated by commas; for example those of services that trust this host.',
      example: '203.0.113.0/24,2001:db8::/32',
      otherwise: 'none',
    }),
    RETENTION_DAYS: z.coerce.number().positive().optional().meta({
      description: 'The number of days after its end when the facts of a run are deleted.',
      unit: 'days',
      otherwise: 'never',
    }),
    RETENTION_EVERY_MS: milliseconds
      .default(60_000)
      .describe(
        'How often it deletes expired data: old facts, stored responses, and the data of deleted threads and removed accounts.',
      ),
    DELTA_FRAME_MS: milliseconds
      .default(15)
      .describe('How long deltas are collected before they are sent to subscribers.'),
    DRAIN_MS: milliseconds
      .default(5_000)
      .describe(
        'How long runs may continue to the end of an iteration at shutdown. Then they are handed over at once.',
      ),
  })
  .check(leasesOutliveHeartbeats, jsonSettingsAreReadable);
