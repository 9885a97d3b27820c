import { type Sandbox, take } from '@rondo/client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useRondo } from '../session/use-session.ts';
import { useThreadTitle } from '../threads/thread-title.ts';
import { age } from '../ui/amounts.ts';
import { BeginThread, Empty, Failure, Loading } from '../ui/states.tsx';
import { useNow } from '../ui/use-now.ts';
import { SandboxFigures } from './sandbox-figures.tsx';
import { SandboxState } from './sandbox-state.tsx';

const pageSize = 20;

/** Where tools act: one for each thread that used some. */
export function SandboxesPage() {
  const rondo = useRondo();
  const now = useNow();
  const [shown, setShown] = useState(pageSize);
  const { data, error, refetch } = useQuery({
    queryKey: ['sandboxes', shown],
    queryFn: () => take(rondo.sandboxes.list({ limit: pageSize }), shown),
    refetchInterval: 5_000,
    placeholderData: keepPreviousData,
  });
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  return (
    <>
      <div className="page-head">
        <h1>Sandboxes</h1>
      </div>
      {!data && <Loading what="sandboxes" />}
      {data?.items.length === 0 && (
        <Empty title="No sandboxes yet.">
          <p>A thread gets one when a tool of its runs first needs it.</p>
          <BeginThread />
        </Empty>
      )}
      <ul className="run-list" aria-label="Sandboxes">
        {data?.items.map((sandbox) => (
          <SandboxItem key={sandbox.id} sandbox={sandbox} now={now} />
        ))}
      </ul>
      {data?.hasMore === true && <button onClick={() => setShown(shown + pageSize)}>Show older sandboxes</button>}
    </>
  );
}

function SandboxItem({ sandbox, now }: { readonly sandbox: Sandbox; readonly now: number }) {
  const title = useThreadTitle({ id: sandbox.thread_id, metadata: {} });
  const { id, created_at: at, state } = sandbox;
  return (
    <li>
      <Link to="/sandboxes/$sandboxId" params={{ sandboxId: id }}>
        <SandboxState state={state} />
        <span className="run-title" dir="auto">
          {title ?? ' '}
        </span>
        <SandboxFigures sandbox={sandbox} />
        <time dateTime={at} title={new Date(at).toLocaleString()}>
          {age(at, now)}
        </time>
      </Link>
    </li>
  );
}
