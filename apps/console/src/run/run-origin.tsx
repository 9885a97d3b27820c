import type { Run } from '@rondo/client';
import { Link } from '@tanstack/react-router';

/** Where a run comes from that no person began: another run that was forked, or one whose call started it. */
export function RunOrigin({ run }: { readonly run: Run }) {
  const { forked_from: fork, parent_run_id: parent, root_run_id: root } = run;
  if (!fork && parent === null) return null;
  return (
    <p className="origin">
      {fork && (
        <span>
          Forked from <RunLink id={fork.run_id} seq={fork.seq} /> at fact {fork.seq} ·{' '}
          <Link to="/compare" search={{ a: fork.run_id, b: run.id }}>
            Compare both
          </Link>
        </span>
      )}
      {parent !== null && (
        <span>
          Started by <RunLink id={parent} />
          {root !== null && root !== parent && (
            <>
              {' '}
              · the first of them is <RunLink id={root} />
            </>
          )}
        </span>
      )}
    </p>
  );
}

/** A run by the end of its id, as it was after a fact. */
export function RunLink({ id, seq }: { readonly id: string; readonly seq?: number }) {
  return (
    <Link to="/runs/$runId" params={{ runId: id }} search={seq === undefined ? {} : { seq }} title={id}>
      run …{id.slice(-6)}
    </Link>
  );
}
