import type { Balance, UsageReport } from '@rondo/client';
import type { Command } from '../command';
import { toDollars } from '../dollars';

type Row = UsageReport['data'][number] | UsageReport['total'];

const groupFields = { day: 'day', model: 'model', agent: 'agent_id', user: 'user', key: 'key_id' } as const;

/** What a row is about, by a group that the gateway knows. */
const toGroup = (row: UsageReport['data'][number], group: string): string =>
  row[groupFields[group as keyof typeof groupFields]] ?? 'none';

/** By price factors. Sums of fractions may differ in their last digits. */
const isChargedOtherwise = ({ cost_usd: cost, charged_usd: charged }: Row): boolean =>
  cost !== null && charged !== null && toDollars(cost) !== toDollars(charged);

/** A cost that is not known is not zero. */
function toCost({ cost_usd: cost, unpriced_calls: unpriced }: Row): string {
  const known = cost === null ? '?' : toDollars(cost);
  return unpriced > 0 && cost !== null ? `${known} and ${unpriced} calls without a price` : known;
}

const listCells = (row: Row, showsCharges: boolean): string[] => [
  ...[`${row.calls}`, `${row.input_tokens}`, `${row.output_tokens}`, toCost(row)],
  ...(showsCharges ? [row.charged_usd === null ? '?' : toDollars(row.charged_usd)] : []),
];

/** One line, for an account that is limited. */
function findSentence({ tier, period, period_end: end, ...usd }: Balance): string | undefined {
  if (usd.available_usd === null) return undefined;
  const credit = usd.credit_usd === 0 ? '' : `, with a credit of ${toDollars(usd.credit_usd)}`;
  return (
    `${toDollars(usd.available_usd)} left: ${toDollars(usd.spent_usd)} spent and ${toDollars(usd.reserved_usd)} reserved of ` +
    `${toDollars(usd.allowance_usd ?? 0)} per ${period} (tier ${tier})${credit}; the next ${period} begins ${end.slice(0, 10)}.`
  );
}

export const usage: Command = {
  name: 'usage',
  summary: 'Sum up the tokens and the cost of model calls',
  options: [
    { name: 'by', value: 'GROUPS', help: 'day, model, agent, user, key, or several with commas (day)' },
    { name: 'from', value: 'DATE', help: 'since this day or moment' },
    { name: 'to', value: 'DATE', help: 'before this day or moment' },
    { name: 'run', value: 'RUN', help: 'only of this run' },
  ],
  async run(given, { rondo, terminal }) {
    const by = given.value('by') ?? 'day';
    const query = { group_by: by, from: given.value('from'), to: given.value('to'), run_id: given.value('run') };
    const client = rondo();
    const [report, balance] = await Promise.all([client.usage(query), client.balance()]);
    if (terminal.isJson) terminal.json({ ...report, balance });
    else {
      const { data, total, has_more: hasMore } = report;
      const groups = by.split(',');
      const showsCharges = isChargedOtherwise(total);
      const figures = ['CALLS', 'INPUT', 'OUTPUT', 'COST', ...(showsCharges ? ['CHARGED'] : [])];
      const names = [...groups.map((group) => group.toUpperCase()), ...figures];
      const totals = [...groups.map((_, index) => (index === 0 ? 'total' : '')), ...listCells(total, showsCharges)];
      terminal.table([
        names,
        ...data.map((row) => [...groups.map((group) => toGroup(row, group)), ...listCells(row, showsCharges)]),
        totals,
      ]);
      if (hasMore) terminal.note('There are more rows; the total is of all.', 'yellow');
      const left = findSentence(balance);
      if (left !== undefined) terminal.note(left);
    }
    return 'ok';
  },
};
