import type { RunRow } from '@rondo/client';
import { useQuery } from '@tanstack/react-query';
import { Link, getRouteApi } from '@tanstack/react-router';
import { memo, useMemo } from 'react';
import { MessageItem } from '../run/message-item.tsx';
import { NoteItem } from '../run/note-item.tsx';
import type { Iteration } from '../run/run-details.ts';
import { ToolCallItem } from '../run/tool-call-item.tsx';
import { useRunFeed } from '../run/use-run-feed.ts';
import { useRondo } from '../session/use-session.ts';
import { cost, count } from '../ui/amounts.ts';
import { Failed, Loading } from '../ui/states.tsx';
import { type AlignedIteration, alignedIterations } from './aligned-iterations.ts';
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
  const iterations = useMemo(() => alignedIterations(rowsA, rowsB), [rowsA, rowsB]);
  const error = a.error ?? b.error;
  if (error) return <Failed error={error} />;
  if (!a.run || !b.run) return <Loading what="both runs" />;
  const [comparedA, comparedB]: ComparedRun[] = [
    { run: a.run, fed: a.fed },
    { run: b.run, fed: b.fed },
  ];
  if (!comparedA || !comparedB) return null;
  return (
    <>
      <CompareSummary a={comparedA} b={comparedB} />
      {iterations.map((iteration) => (
        <Aligned
          key={iteration.number}
          iteration={iteration}
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

const words: Record<AlignedIteration['difference'], string> = {
  same: 'the same',
  calls: 'other calls',
  words: 'other words',
  'only a': 'only A has it',
  'only b': 'only B has it',
};

interface AlignedProps {
  readonly iteration: AlignedIteration;
  readonly a: Iteration | undefined;
  readonly b: Iteration | undefined;
}

function Aligned({ iteration: { number, difference, a: rowsA, b: rowsB }, a, b }: AlignedProps) {
  const name = number === 0 ? 'Before the first iteration' : `Iteration ${number}`;
  return (
    <section className="aligned" aria-label={name}>
      <header>
        <h2>{name}</h2>
        <span className={`tag ${difference === 'same' ? '' : 'differs'}`}>{words[difference]}</span>
      </header>
      <Column name="A" rows={rowsA} iteration={a} />
      <Column name="B" rows={rowsB} iteration={b} />
    </section>
  );
}

interface ColumnProps {
  readonly name: string;
  readonly rows: readonly RunRow[];
  readonly iteration: Iteration | undefined;
}

const Column = memo(function Column({ name, rows, iteration }: ColumnProps) {
  return (
    <div className="aligned-column">
      <p className="hint">
        {name}
        {iteration &&
          ` · ${count(iteration.inputTokens)} in, ${count(iteration.outputTokens)} out · ${cost(iteration.costUsd)}`}
      </p>
      {rows.map((row) => (
        <Row key={row.id} row={row} />
      ))}
    </div>
  );
});

function Row({ row }: { readonly row: RunRow }) {
  if (row.kind === 'message') return <MessageItem row={row} />;
  return row.kind === 'tool_call' ? <ToolCallItem row={row} sentAt={undefined} /> : <NoteItem row={row} />;
}
