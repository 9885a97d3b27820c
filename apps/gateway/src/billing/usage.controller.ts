import { Controller } from '@nestjs/common';
import { type UsageGroup, usageEntry, type AccountId, type Balance } from '@rondo/contract';
import { billing, usageEntryQuery, usageQuery, usageSums } from '@rondo/contract/api';
import { UsageLedger, Balances } from '@rondo/persistence';
import type { Request } from 'express';
import type { z } from 'zod';
import { Route, type RouteInput } from '../http/route';
import type { AccountTier } from '@rondo/domain';
import { refuseField } from '../problems/api-error';
import { AccountLimits } from './account-limits';
import { AccountQuotas } from './account-quotas';

type Cell = string | number | boolean | null | undefined;

/** Rows as RFC 4180, with a header. A missing value is an empty field. */
export const toCsv = <Column extends string>(
  columns: readonly Column[],
  rows: readonly { readonly [Key in Column]?: Cell }[],
): string => [columns, ...rows.map((row) => columns.map((column) => row[column]))].map(toLine).join('');

const toLine = (cells: readonly Cell[]): string => `${cells.map(toField).join(',')}\r\n`;

/** A text that a spreadsheet would take for a formula is preceded by an apostrophe. */
function toField(cell: Cell): string {
  if (cell === null || cell === undefined) return '';
  if (typeof cell !== 'string') return String(cell);
  const text = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

type Filter = Omit<z.output<typeof usageEntryQuery>, 'limit' | 'after'>;

const usualDays = 30;
const mostDays = 400;
const dayMs = 86_400_000;

const isBounded = ({ run_id: run, thread_id: thread }: Filter): boolean => run !== undefined || thread !== undefined;

/** The time that a query is about. */
function readRange(query: Filter): { from: Date; to: Date } {
  const end = query.to === undefined ? Date.now() : Date.parse(query.to);
  const usualStart = isBounded(query) ? 0 : end - usualDays * dayMs;
  return { from: new Date(query.from === undefined ? usualStart : Date.parse(query.from)), to: new Date(end) };
}

const isOrdered = (query: Filter): boolean => {
  const { from, to } = readRange(query);
  return from < to;
};
const isShort = (query: Filter): boolean => {
  const { from, to } = readRange(query);
  return isBounded(query) || to.getTime() - from.getTime() <= mostDays * dayMs;
};
const notOrdered = { path: ['from'], message: 'must be before `to`' };
const tooLong = { path: ['from'], message: `must be at most ${mostDays} days before \`to\`` };

const checkedUsageQuery = usageQuery.refine(isOrdered, notOrdered).refine(isShort, tooLong);
const checkedEntryQuery = usageEntryQuery.refine(isOrdered, notOrdered).refine(isShort, tooLong);

const groupColumns = {
  day: 'day',
  model: 'model',
  agent: 'agent_id',
  user: 'user',
  key: 'key_id',
} as const satisfies Record<UsageGroup, string>;
const sums = usageSums.keyof().options;
const entryColumns = usageEntry.keyof().options;

type ReportInput = RouteInput<typeof billing.getUsage>;
type EntriesInput = RouteInput<typeof billing.listUsageEntries>;

@Controller()
export class UsageController {
  constructor(private readonly ledger: UsageLedger) {}

  @Route(billing.getUsage, { query: checkedUsageQuery })
  async getUsage({ address, query, request, response }: ReportInput) {
    const { group_by: groups, limit } = query;
    const report = await this.ledger.report({ ...address, ...toFilter(query), groups, limit });
    if (!wantsCsv(request)) return report;
    response.type('text/csv');
    if (report.has_more) response.setHeader('X-Has-More', 'true');
    return toCsv([...groups.map((group) => groupColumns[group]), ...sums], report.data);
  }

  @Route(billing.listUsageEntries, { query: checkedEntryQuery })
  async listUsageEntries({ address, query, request, response }: EntriesInput) {
    const { limit, after } = query;
    const page = await this.ledger.entries({ ...address, ...toFilter(query), limit, after });
    if (!wantsCsv(request)) return page;
    response.type('text/csv');
    if (page.next_cursor !== null) response.setHeader('X-Next-Cursor', page.next_cursor);
    return toCsv(entryColumns, page.data);
  }
}

const wantsCsv = (request: Request): boolean => request.accepts(['application/json', 'text/csv']) === 'text/csv';

const toFilter = (query: Filter) => ({
  ...readRange(query),
  agentId: query.agent_id,
  runId: query.run_id,
  threadId: query.thread_id,
  user: query.user,
  model: query.model,
});

@Controller()
export class BalanceController {
  constructor(
    private readonly limits: AccountLimits,
    private readonly balances: Balances,
    private readonly quotas: AccountQuotas,
  ) {}

  @Route(billing.getBalance)
  getBalance({ address }: RouteInput<typeof billing.getBalance>) {
    return this.readBalance(address.accountId);
  }

  @Route(billing.getAccountBalance)
  getAccountBalance({ address }: RouteInput<typeof billing.getAccountBalance>) {
    return this.readBalance(address.namedId);
  }

  @Route(billing.setAccountTier)
  async setAccountTier({ address: { namedId: accountId }, body }: RouteInput<typeof billing.setAccountTier>) {
    const tier = this.requireTier(body.tier);
    await this.balances.setTier({ accountId, tier, priceFactor: body.price_factor });
    return this.readBalance(accountId);
  }

  @Route(billing.giveCredit)
  giveCredit({ address: { namedId }, body: { usd, reason }, caller, promised }: RouteInput<typeof billing.giveCredit>) {
    const { toLimit } = this.limits;
    return this.balances.give({ accountId: namedId, usd, reason, givenBy: caller.keyId, toLimit, promised });
  }

  private async readBalance(accountId: AccountId): Promise<Balance> {
    const balance = await this.limits.toBalance(accountId);
    return { ...balance, quotas: await this.quotas.readQuotas(accountId) };
  }

  private requireTier(name: string): AccountTier {
    const { tiers } = this.limits;
    if (tiers?.names.includes(name)) return tiers.of(name);
    const message = tiers
      ? `must be one of ${tiers.names.join(', ')}`
      : 'this deployment has no tiers: set ACCOUNT_TIERS';
    throw refuseField('tier', message);
  }
}
