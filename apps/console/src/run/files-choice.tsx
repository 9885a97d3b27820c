import type { Rondo } from '@rondo/client';
import { useQuery } from '@tanstack/react-query';
import { useRondo } from '../session/use-session.ts';
import { ChoiceField } from '../ui/fields.tsx';

/** Which files a run begins with. */
export type Files = 'otherwise' | 'as_then';

/** As requests have it. */
export const toWorkspace = (files: Files) => (files === 'as_then' ? { workspace: files } : {});

interface FilesChoiceProps {
  readonly runId: string;
  readonly moment: NonNullable<Parameters<Rondo['runs']['rewindPreview']>[1]>;
  /** A fork has a workspace of its own, which is empty otherwise. */
  readonly isFork?: boolean;
  readonly value: Files;
  readonly onChange: (files: Files) => void;
}

/** Whether a run begins with the files as they were then, with what that changes, and what it cannot take back. */
export function FilesChoice({ isFork = false, value, onChange, ...preview }: FilesChoiceProps) {
  const options = [
    ['otherwise', isFork ? 'None: it begins empty' : 'Files stay as they are'],
    ['as_then', 'Files as they were then'],
  ] as const;
  return (
    <>
      <ChoiceField
        label="Files of its workspace"
        options={options}
        value={value}
        onChange={({ target }) => onChange(target.value === 'as_then' ? 'as_then' : 'otherwise')}
      />
      {value === 'as_then' && <RewindPreview isFork={isFork} {...preview} />}
    </>
  );
}

function RewindPreview({ runId, moment, isFork }: Pick<FilesChoiceProps, 'runId' | 'moment' | 'isFork'>) {
  const rondo = useRondo();
  const { data, error } = useQuery({
    queryKey: ['rewind-preview', runId, moment],
    queryFn: () => rondo.runs.rewindPreview(runId, moment),
    retry: false,
    gcTime: 0,
  });
  if (error)
    return (
      <p className="problem" role="alert">
        {error.message}
      </p>
    );
  if (!data) return <p className="hint">Compares the files …</p>;
  const { created, changed, removed } = data.files;
  const paths = [...changed.paths, ...created.paths, ...removed.paths];
  return (
    <>
      <p className="hint">
        {isFork
          ? `Beside those of the workspace now: ${changed.count} differ, ${created.count} are only in the fork, ${removed.count} are not in it.`
          : `${changed.count} become what they were, ${created.count} come back, ${removed.count} are deleted. Processes in the workspace end.`}
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
          {[...new Set(data.effects.map(({ name }) => name))].join(', ')} (
          {data.effects.length === 1 && !data.effects_truncated
            ? '1 call'
            : `${data.effects.length}${data.effects_truncated ? ' and more' : ''} calls`}
          ).
        </p>
      )}
    </>
  );
}
