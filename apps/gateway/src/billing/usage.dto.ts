import { agentId, runId, threadId, usageEntry } from '@rondo/contract';
import { usageGroups } from '@rondo/persistence';
import { createZodDto } from 'nestjs-zod';
import { z } from 'zod';
import { pageOf, pageQuery } from '../http/paging';

const moment = z.union([z.iso.date(), z.iso.datetime({ offset: true })]);
const most = { rows: 10_000, days: 400 };
const dayMs = 86_400_000;

const filter = {
  from: moment
    .optional()
    .describe(
      'A day (0:00 UTC) or a moment. Default: 30 days before `to`, or the beginning of the run or thread that is named.',
    ),
  to: moment.optional().describe('Before this day or moment. Default: now.'),
  agent_id: agentId.optional(),
  run_id: runId.optional(),
  thread_id: threadId.optional(),
  model: z.string().max(300).optional(),
};

type Filter = z.infer<z.ZodObject<typeof filter>>;

/** The time that a query is about. */
export function rangeOf({ from, to, run_id: run, thread_id: thread }: Filter, nowMs: number): { from: Date; to: Date } {
  const end = to === undefined ? nowMs : Date.parse(to);
  const isBounded = run !== undefined || thread !== undefined;
  const start = from === undefined ? (isBounded ? 0 : end - 30 * dayMs) : Date.parse(from);
  return { from: new Date(start), to: new Date(end) };
}

const isOrdered = (query: Filter): boolean => {
  const { from, to } = rangeOf(query, Date.now());
  return from < to;
};
const isShort = (query: Filter): boolean => {
  const { from, to } = rangeOf(query, Date.now());
  return (
    query.run_id !== undefined || query.thread_id !== undefined || to.getTime() - from.getTime() <= most.days * dayMs
  );
};
const notOrdered = { path: ['from'], message: 'must be before `to`' };
const tooLong = { path: ['from'], message: `must be at most ${most.days} days before \`to\`` };

const groupBy = z
  .string()
  .transform((text) => text.split(','))
  .pipe(z.array(z.enum(usageGroups)))
  .describe('`day` (UTC), `model`, `agent`, or several of them, separated by commas.');

export const usageQuery = z
  .strictObject({
    ...filter,
    group_by: groupBy.default(['day']),
    limit: z.coerce.number().int().min(1).max(most.rows).default(1_000),
  })
  .refine(isOrdered, notOrdered)
  .refine(isShort, tooLong);

const entryQuery = pageQuery.extend(filter).refine(isOrdered, notOrdered).refine(isShort, tooLong);

export const usageSums = z.object({
  calls: z.number().int(),
  input_tokens: z.number().int(),
  cached_tokens: z.number().int().describe('Those of the input tokens that were read from a cache.'),
  output_tokens: z.number().int(),
  cost_usd: z
    .number()
    .nullable()
    .describe('At the providers, of the calls with a known price; null if there are none.'),
  unpriced_calls: z.number().int().describe('Calls whose price was not known. Their cost is in no sum.'),
  estimated_calls: z.number().int().describe('Calls of which the provider did not report all tokens.'),
  charged_usd: z
    .number()
    .nullable()
    .describe('What the balance paid for the calls of `cost_usd`, each by its price factor.'),
});

const usageRow = usageSums.extend({
  day: z.iso.date().exactOptional(),
  model: z.string().exactOptional(),
  agent_id: agentId.nullable().exactOptional(),
});

const usageReport = z.object({
  data: z.array(usageRow).readonly(),
  total: usageSums.describe('Of all rows, also of those beyond `limit`.'),
  has_more: z.boolean().describe('There are more rows than `limit`.'),
});

export class UsageQueryDto extends createZodDto(usageQuery) {}
export class UsageReportDto extends createZodDto(usageReport) {}
export class UsageEntryQueryDto extends createZodDto(entryQuery) {}
export class UsageEntryPageDto extends createZodDto(pageOf(usageEntry)) {}

/** What the API documents call them. */
export const usageSchemas = {
  UsageEntry: usageEntry,
  UsageEntryPage: UsageEntryPageDto.schema,
  UsageSums: usageSums,
  UsageReport: UsageReportDto.schema,
};
