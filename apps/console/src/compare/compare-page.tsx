import { useQuery } from '@tanstack/react-query';
import { Link, getRouteApi } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useRunFeed } from '../run/run-feed.ts';
import { useRondo } from '../session/use-session.ts';
import { hasNothing } from '../ui/problem-text.ts';
import { FailurePage, Loading } from '../ui/states.tsx';
import { Aligned } from './aligned.tsx';
import { alignIterations } from './aligned-iterations.ts';
import { ChooseRun } from './choose-run.tsx';
import { CompareSummary, type ComparedRun } from './compare-summary.tsx';

const route = getRouteApi('/compare');

/** Two runs side by side, iteration by iteration, also while they go on. */
export function ComparePage() {
  const search = route.useSearch();
  return (
    <>
      <div className="page-head">
        <h1>Two runs side by side</h1>
        {search.b !== undefined && (
          <Link to="/compare" search={search.a === undefined ? {} : { a: search.a }}>
            Compare with another one
          </Link>
        )}
      </div>
      {search.a === undefined || search.b === undefined ? (
        <ChooseRun search={search} />
      ) : (
        <Both key={`${search.a} ${search.b}`} a={search.a} b={search.b} />
      )}
    </>
  );
}

function Both({ a: idA, b: idB }: { readonly a: string; readonly b: string }) {
  const [a, b] = [useCompared(idA), useCompared(idB)];
  const [rowsA, rowsB] = [a.fed.view.rows, b.fed.view.rows];
  const iterations = useMemo(() => alignIterations(rowsA, rowsB), [rowsA, rowsB]);
  const [areMarked, setAreMarked] = useState(true);
  const error = [a, b].find((one) => hasNothing(one.error, one.run))?.error;
  if (error) return <FailurePage error={error} list={{ to: '/compare', name: 'Compare others' }} />;
  if (!a.run || !b.run) return <Loading what="both runs" />;
  const [comparedA, comparedB]: ComparedRun[] = [
    { run: a.run, fed: a.fed },
    { run: b.run, fed: b.fed },
  ];
  if (!comparedA || !comparedB) return null;
  return (
    <>
      <CompareSummary a={comparedA} b={comparedB} />
      <label className="check">
        <input type="checkbox" checked={areMarked} onChange={({ target }) => setAreMarked(target.checked)} />
        Mark the words that differ
      </label>
      {iterations.map((iteration) => (
        <Aligned
          key={iteration.number}
          iteration={iteration}
          areMarked={areMarked}
          a={a.fed.details.iterations.get(iteration.number)}
          b={b.fed.details.iterations.get(iteration.number)}
        />
      ))}
    </>
  );
}

function useCompared(runId: string) {
  const rondo = useRondo();
  const { now: fed } = useRunFeed(runId, undefined);
  const { data: run, error } = useQuery({
    queryKey: ['run', runId],
    queryFn: ({ signal }) => rondo.runs.get(runId, { signal }),
  });
  return { run, fed, error };
}
