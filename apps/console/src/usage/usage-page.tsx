import { type Rondo, take } from '@rondo/client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, getRouteApi } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useMay } from '../session/use-may.ts';
import { useRondo } from '../session/use-session.ts';
import { Action } from '../ui/action.tsx';
import { count, cost } from '../ui/amounts.ts';
import { Figure } from '../ui/figure.tsx';
import { saveAs } from '../ui/save-as.ts';
import { Failed, Loading } from '../ui/states.tsx';
import { BalanceSection } from './balance-section.tsx';
import { UsageChart } from './usage-chart.tsx';
import { type Measure, type UsageRow, everyDay, firstDay } from './usage-days.ts';
import { type UsageSearch, ranges } from './usage-search.ts';
import { UsageTable } from './usage-table.tsx';

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
  const now = useMemo(() => Date.now(), [days]);
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
  if (error && !data) return <Failed error={error} retry={() => void refetch()} />;

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
  return {
    ...{ total: byDay.total, byDay: byDay.data, byModel: byModel.data, byAgent: byAgent.data },
    ...{ byUser: byUser.data, byKey: byKey.data, names },
  };
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
  const every = everyDay(byDay, { days, now });
  const toAgent = ({ agent_id: id }: UsageRow) => (id == null ? 'no stored agent' : (names.get(id) ?? id));
  const toKey = ({ key_id: id }: UsageRow) => (id == null ? 'no key, or a deleted run' : (names.get(id) ?? id));
  return (
    <>
      <dl className="figures">
        <Figure name="Cost" value={total.calls === 0 ? '$0' : cost(total.cost_usd)} />
        <Figure name="Tokens in" value={count(total.input_tokens)} />
        <Figure name="Tokens in, cached" value={count(total.cached_tokens)} />
        <Figure name="Tokens out" value={count(total.output_tokens)} />
        <Figure name="Calls" value={count(total.calls)} />
      </dl>
      {total.unpriced_calls > 0 && (
        <p className="hint">{count(total.unpriced_calls)} calls have no known price. They are in no cost.</p>
      )}
      <UsageChart days={every} measure={measure} />
      <details className="as-table">
        <summary>The chart as a table</summary>
        <UsageTable label="Usage by day" first="Day" rows={byDay} toName={({ day }) => day ?? ''} />
      </details>
      <section className="section">
        <h2>By model</h2>
        <UsageTable label="Usage by model" first="Model" rows={byModel} toName={({ model }) => model ?? ''} />
      </section>
      <section className="section">
        <h2>By agent</h2>
        <UsageTable label="Usage by agent" first="Agent" rows={byAgent} toName={toAgent} />
      </section>
      {byUser.some(({ user }) => user != null) && (
        <section className="section">
          <h2>By user</h2>
          <UsageTable label="Usage by user" first="User" rows={byUser} toName={toUser} toCell={linkUser} />
        </section>
      )}
      <section className="section">
        <h2>By key</h2>
        <UsageTable label="Usage by key" first="Key" rows={byKey} toName={toKey} />
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
