import { type Run, take } from '@rondo/client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { nameAgent, useRunTitle } from '../runs/run-title.ts';
import { useRondo } from '../session/use-session.ts';
import { age } from '../ui/amounts.ts';
import { BeginThread, Empty, Failure, Loading } from '../ui/states.tsx';
import { Status } from '../ui/status.tsx';
import { useNow } from '../ui/use-now.ts';
import type { CompareSearch } from '../searches.ts';

const pageSize = 40;

/** The newest runs, each a link that compares it. */
export function ChooseRun({ search }: { readonly search: CompareSearch }) {
  const rondo = useRondo();
  const [shown, setShown] = useState(pageSize);
  const { data, error } = useQuery({
    queryKey: ['runs', 'to compare', shown],
    queryFn: () => take(rondo.runs.list({ limit: pageSize }), shown),
    placeholderData: keepPreviousData,
  });
  if (error && !data) return <Failure error={error} />;
  if (!data) return <Loading what="runs" />;
  const runs = data.items.filter(({ id }) => id !== search.a);
  if (runs.length === 0)
    return (
      <Empty title={search.a === undefined ? 'No runs yet' : 'No other run yet'}>
        <p>Two runs are needed to compare them.</p>
        <BeginThread />
      </Empty>
    );
  return (
    <>
      <p className="hint">{search.a === undefined ? 'Choose the first run.' : 'Choose the run to compare it with.'}</p>
      <ul className="run-list" aria-label="Runs to compare">
        {runs.map((run) => (
          <Choice key={run.id} run={run} search={search} />
        ))}
      </ul>
      {data.hasMore && <button onClick={() => setShown(shown + pageSize)}>Show older runs</button>}
    </>
  );
}

function Choice({ run, search: { a } }: { readonly run: Run; readonly search: CompareSearch }) {
  const title = useRunTitle(run);
  const now = useNow();
  return (
    <li>
      <Link to="/compare" search={a === undefined ? { a: run.id } : { a, b: run.id }}>
        <Status status={run.status} finishReason={run.finish_reason} steers={run.steers} />
        <span className="run-title" dir="auto">
          {title ?? run.id}
        </span>
        <span className="run-facts">
          <span>{run.model}</span>
          <span>{nameAgent(run)}</span>
        </span>
        <time dateTime={run.created_at}>{age(run.created_at, now)}</time>
      </Link>
    </li>
  );
}
