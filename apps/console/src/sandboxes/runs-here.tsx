import { type Run, take } from '@rondo/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { unfinished } from '../runs/at-work.ts';
import { useRunTitle } from '../runs/run-title.ts';
import { useRondo } from '../session/use-session.ts';
import { Status } from '../ui/status.tsx';

/** The unfinished runs of a sandbox's thread, and what each does now. */
export function RunsHere({ threadId }: { readonly threadId: string }) {
  const rondo = useRondo();
  const { data } = useQuery({
    queryKey: ['runs here', threadId],
    queryFn: () => take(rondo.runs.list({ thread_id: threadId, status: unfinished, limit: 20 }), 20),
    refetchInterval: 3_000,
  });
  if (!data) return null;
  return (
    <section className="section" aria-label="What runs in it">
      <h2>What runs in it</h2>
      {data.items.length === 0 && (
        <p className="hint">No run. What an earlier one has left running in the background is not listed.</p>
      )}
      <ul>
        {data.items.map((run) => (
          <RunHere key={run.id} run={run} />
        ))}
      </ul>
    </section>
  );
}

function RunHere({ run }: { readonly run: Run }) {
  const rondo = useRondo();
  const title = useRunTitle(run);
  const { data } = useQuery({
    queryKey: ['why', run.id, run.status],
    queryFn: ({ signal }) => rondo.runs.why(run.id, { signal }),
    refetchInterval: 2_000,
  });
  return (
    <li className="run-here">
      <Status status={run.status} />
      <Link to="/runs/$runId" params={{ runId: run.id }} dir="auto">
        {title ?? run.id}
      </Link>
      <span className="hint">{data?.sentence}</span>
    </li>
  );
}
