import {
  commaSeparated,
  count,
  holderName,
  internalHost,
  leaseVariables,
  leasesOutliveHeartbeats,
  milliseconds,
  modelVariables,
  network,
  serverVariables,
  serviceVariables,
} from '@rondo/platform';
import { hostPattern } from '@rondo/domain';
import { z } from 'zod';

export const environment = z
  .object({
    ...serviceVariables,
    ...serverVariables(8),
    ...modelVariables,
    ...leaseVariables,
    WORKER_ID: holderName(''),
    RUN_CONCURRENCY: count.default(100).describe('Runs that it holds at the same time.'),
    REAP_MS: milliseconds.default(3_000).describe('How often runs are looked for that nobody holds and no job names.'),
    COMPACTION_PATIENCE_MS: milliseconds
      .default(60_000)
      .describe('For so long a run waits for a summarizer to take it; then it goes on without a summary.'),
    LIVENESS_MS: milliseconds
      .default(30_000)
      .describe('For so long it may do nothing that it should do again and again; then it does not count as alive.'),
    ACCOUNT_BUDGET_USD: z.coerce.number().positive().optional().meta({
      description:
        'What the runs of an account may spend in a period, counted from `usage_entries` where prices are known. Its runs then complete with `budget_exceeded`. What is under way comes on top.',
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
        'Hosts that honour the `Idempotency-Key` header, separated by commas: `host`, `host:port` or `*.host`. A POST or PATCH of `http_request` to one of them may be sent again when its outcome is unknown, where the model says `idempotency: key_honoured`.',
      example: 'api.payments.example,*.internal.example',
      otherwise: 'none: no POST or PATCH is sent twice',
    }),
    IMAGE_INTERNAL_HOSTS: commaSeparated.pipe(z.array(internalHost)).optional().meta({
      description:
        'Where images of URLs in messages may be fetched besides, though the address is private: `host:port`, separated by commas.',
      example: 'images.internal:8080',
      otherwise: 'none',
    }),
    IMAGE_DENIED_NETWORKS: commaSeparated.pipe(z.array(network)).optional().meta({
      description:
        'Public networks from which no image of a URL is fetched, separated by commas; for example those of services that trust this host.',
      example: '203.0.113.0/24,2001:db8::/32',
      otherwise: 'none',
    }),
    RETENTION_DAYS: z.coerce.number().positive().optional().meta({
      description: 'Facts of runs that ended so many days ago are deleted.',
      unit: 'days',
      otherwise: 'never',
    }),
    RETENTION_EVERY_MS: milliseconds
      .default(60_000)
      .describe(
        'How often it deletes what need not be kept: old facts, answers to old requests, what deleted threads and removed accounts owned.',
      ),
    DELTA_FRAME_MS: milliseconds.default(15).describe('For so long deltas are gathered before watchers are sent them.'),
    DRAIN_MS: milliseconds
      .default(5_000)
      .describe('For so long runs may come to a good place to be handed over once the process was told to end.'),
  })
  .check(leasesOutliveHeartbeats);
