import { type Rondo, type UsageReport, take } from '@rondo/client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useMay, useRondo } from '../session/use-session.ts';
import { Action } from '../ui/action.tsx';
import { count, cost } from '../ui/amounts.ts';
import { Figure } from '../ui/figure.tsx';
import { saveAs } from '../ui/save-as.ts';
import { BeginThread, Empty, Failure, Loading } from '../ui/states.tsx';
import { UsageChart } from './usage-chart.tsx';
import { type Measure, type UsageRow, everyDay, firstDay } from './usage-days.ts';
import { type UsageSearch, ranges } from '../searches.ts';
import { useNow } from '../ui/use-now.ts';
import { BalanceFigures } from './balance-figures.tsx';
import { Table } from '../ui/table.tsx';

const route = getRouteApi('/usage');
const measures: readonly (readonly [Measure, string])[] = [
  ['cost', 'Cost'],
  ['tokens', 'Tokens'],
  ['calls', 'Calls'],
];

/** What model calls have used: by day, model, agent, user and key. */
export function UsagePage() {
  const { days = 30, measure: chosen } = route.useSearch();
  const rondo = useRondo();
  const mayListKeys = useMay('admin');
  const now = useNow(); // the chart ends today, also where the page was opened yesterday
  const from = firstDay(days, now);
  const { data, error, refetch } = useQuery({
    queryKey: ['usage', from, mayListKeys],
    queryFn: () => readUsage(rondo, { from, mayListKeys }),
    refetchInterval: 15_000,
    placeholderData: keepPreviousData,
  });
  const measure = chosen ?? ((data?.total.cost_usd ?? 0) > 0 ? 'cost' : 'tokens');
  const download = async () =>
    saveAs(`usage-from-${from}.csv`, await rondo.usageCsv({ group_by: 'day,model,agent,user,key', from }));
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;

  return (
    <>
      <div className="page-head">
        <h1>Usage</h1>
        <Action work={download}>Download as CSV</Action>
      </div>
      <BalanceSection />
      <Choices days={days} measure={measure} />
      {data ? <Report report={data} days={days} measure={measure} now={now} /> : <Loading what="usage" />}
    </>
  );
}

async function readUsage(rondo: Rondo, { from, mayListKeys }: { from: string; mayListKeys: boolean }) {
  const group = (name: 'day' | 'model' | 'agent' | 'user' | 'key') => rondo.usage({ group_by: name, from });
  const [byDay, byModel, byAgent, byUser, byKey, agents, keys] = await Promise.all([
    group('day'),
    group('model'),
    group('agent'),
    group('user'),
    group('key'),
    take(rondo.agents.list({ limit: 100 }), 300),
    mayListKeys ? take(rondo.apiKeys.list({ limit: 100 }), 300) : { items: [] },
  ]);
  const names = new Map([
    ...agents.items.map(({ id, definition }) => [id, definition.name] as const),
    ...keys.items.map(({ id, name }) => [id, name] as const),
  ]);
  return { total: byDay.total, byDay, byModel, byAgent, byUser, byKey, names };
}

function Choices({ days, measure }: Required<UsageSearch>) {
  return (
    <div className="filters">
      <nav aria-label="Days">
        {ranges.map((range) => (
          <Link
            key={range}
            to="/usage"
            search={{ days: range, measure }}
            aria-current={range === days ? 'true' : undefined}
          >
            {range} days
          </Link>
        ))}
      </nav>
      <nav aria-label="What the chart shows">
        {measures.map(([name, words]) => (
          <Link
            key={name}
            to="/usage"
            search={{ days, measure: name }}
            aria-current={name === measure ? 'true' : undefined}
          >
            {words}
          </Link>
        ))}
      </nav>
    </div>
  );
}

interface ReportProps extends Required<UsageSearch> {
  readonly report: Awaited<ReturnType<typeof readUsage>>;
  readonly now: number;
}

function Report({ report, days, measure, now }: ReportProps) {
  const { total, byDay, byModel, byAgent, byUser, byKey, names } = report;
  if (total.calls === 0)
    return (
      <Empty title={`No model was called in the last ${days} days.`}>
        <p>What runs cost is shown here by day, model, agent, user and key.</p>
        <BeginThread />
      </Empty>
    );
  const every = everyDay(byDay.data, { days, now });
  const toAgent = ({ agent_id: id }: UsageRow) => (id == null ? 'no stored agent' : (names.get(id) ?? id));
  const toKey = ({ key_id: id }: UsageRow) => (id == null ? 'no key, or a deleted run' : (names.get(id) ?? id));
  return (
    <>
      <dl className="figures">
        <Figure name="Cost" value={cost(total.cost_usd)} />
        <Figure name="Tokens in" value={count(total.input_tokens)} />
        <Figure name="Tokens in, cached" value={count(total.cached_tokens)} />
        <Figure name="Tokens out" value={count(total.output_tokens)} />
        <Figure name="Calls" value={count(total.calls)} />
      </dl>
      {total.unpriced_calls > 0 && (
        <p className="hint">
          {total.unpriced_calls === 1
            ? 'One call has no known price. It is in no cost.'
            : `${count(total.unpriced_calls)} calls have no known price. They are in no cost.`}
        </p>
      )}
      <UsageChart days={every} measure={measure} />
      <details className="as-table">
        <summary>The chart as a table</summary>
        <UsageTable label="Usage by day" first="Day" report={byDay} toName={({ day }) => day ?? ''} />
      </details>
      <section className="section">
        <h2>By model</h2>
        <UsageTable label="Usage by model" first="Model" report={byModel} toName={({ model }) => model ?? ''} />
      </section>
      <section className="section">
        <h2>By agent</h2>
        <UsageTable label="Usage by agent" first="Agent" report={byAgent} toName={toAgent} />
      </section>
      {byUser.data.some(({ user }) => user != null) && (
        <section className="section">
          <h2>By user</h2>
          <UsageTable label="Usage by user" first="User" report={byUser} toName={toUser} toCell={linkUser} />
        </section>
      )}
      <section className="section">
        <h2>By key</h2>
        <UsageTable label="Usage by key" first="Key" report={byKey} toName={toKey} />
      </section>
    </>
  );
}

const toUser = ({ user }: UsageRow) => user ?? 'no user, or a deleted run';

const linkUser = (row: UsageRow) =>
  row.user == null ? (
    toUser(row)
  ) : (
    <Link to="/users/$user" params={{ user: row.user }} dir="auto">
      {row.user}
    </Link>
  );

const refreshMs = 15_000;

/** The balance of the own account. Nothing where the deployment has no tiers, because it limits nothing then. */
export function BalanceSection() {
  const rondo = useRondo();
  const { data: balance } = useQuery({
    queryKey: ['balance'],
    queryFn: ({ signal }) => rondo.balance({ signal }),
    refetchInterval: refreshMs,
  });
  if (balance?.tier == null) return null;
  return (
    <section className="card" aria-label="Balance">
      <h2>
        Balance <span className="tag">Tier {balance.tier}</span>
      </h2>
      <BalanceFigures balance={balance} />
    </section>
  );
}

interface UsageTableProps {
  readonly label: string;
  /** What the first column has. */
  readonly first: string;
  readonly report: Pick<UsageReport, 'data' | 'has_more'>;
  readonly toName: (row: UsageRow) => string;
  /** What stands in the first column, if it is more than the name. */
  readonly toCell?: (row: UsageRow) => ReactNode;
}

export function UsageTable({ label, first, report, toName, toCell = toName }: UsageTableProps) {
  const { data: rows, has_more: hasMore } = report;
  if (rows.length === 0) return <p className="hint">No model was called in this time.</p>;
  return (
    <>
      <Table
        label={label}
        columns={[first, ['Calls', 'number'], ['Tokens in', 'number'], ['Tokens out', 'number'], ['Cost', 'number']]}
      >
        {rows.map((row) => (
          <tr key={[row.day, row.model, row.agent_id, row.user, row.key_id].join(' ')}>
            <th scope="row">{toCell(row)}</th>
            <td className="number">{count(row.calls)}</td>
            <td className="number">{count(row.input_tokens)}</td>
            <td className="number">{count(row.output_tokens)}</td>
            <td className="number">{cost(row.cost_usd)}</td>
          </tr>
        ))}
      </Table>
      {hasMore && <p className="hint">There are more rows. The figures at the top are of all.</p>}
    </>
  );
}
