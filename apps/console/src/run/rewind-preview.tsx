import type { Run } from '@rondo/client';
import { useQuery } from '@tanstack/react-query';
import { useRondo } from '../session/use-session.ts';

/** What the files then were beside those that the workspace has now, and what stays as it is. */
export function RewindPreview({ run, atSeq }: { readonly run: Run; readonly atSeq: number }) {
  const rondo = useRondo();
  const { data, error } = useQuery({
    queryKey: ['rewind-preview', run.id, atSeq],
    queryFn: () => rondo.runs.rewindPreview(run.id, { at_seq: atSeq }),
    retry: false,
    gcTime: 0,
  });
  if (error) return <p className="problem">{error.message}</p>;
  if (!data) return <p className="hint">Compares the files …</p>;
  const { created, changed, removed } = data.files;
  const paths = [...changed.paths, ...created.paths, ...removed.paths];
  return (
    <>
      <p className="hint">
        Beside those of the workspace now: {changed.count} differ, {created.count} are only in the fork, {removed.count}{' '}
        are not in it.
      </p>
      {paths.length > 0 && (
        <details>
          <summary>Which</summary>
          <pre>{paths.join('\n')}</pre>
        </details>
      )}
      {data.effects.length > 0 && (
        <p className="hint">
          Files are all that goes back. What these later calls did elsewhere stays:{' '}
          {[...new Set(data.effects.map(({ name }) => name))].join(', ')} ({data.effects.length}
          {data.effects_truncated && ' and more'} calls).
        </p>
      )}
    </>
  );
}
