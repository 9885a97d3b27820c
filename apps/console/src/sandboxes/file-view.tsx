import { plainText } from '@rondo/react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useMay, useRondo } from '../session/use-session.ts';
import { Action } from '../ui/action.tsx';
import { bytes } from '../ui/amounts.ts';
import { ConfirmedAction } from '../ui/confirmed-action.tsx';
import { hasNothing } from '../ui/problem-text.ts';
import { saveAs } from '../ui/save-as.ts';
import { Failure, Loading } from '../ui/states.tsx';
import { useRefreshKey } from '../ui/use-refresh-key.ts';
import { FileEditor } from './file-editor.tsx';
import { type FileContent, toName } from './file-content.ts';
import { ShownFile, readFile } from './shown-file.tsx';

interface FileViewProps {
  readonly sandboxId: string;
  readonly path: string;
}

/** A file: text, which can be edited, or a picture; anything can be downloaded. */
export function FileView({ sandboxId, path }: FileViewProps) {
  const rondo = useRondo();
  const refreshKey = useRefreshKey();
  const [edited, setEdited] = useState<string | null>(null);
  const { data, error, refetch } = useQuery({
    queryKey: ['file', sandboxId, path],
    queryFn: async ({ signal }) => readFile(await rondo.sandboxes.readFile(sandboxId, path, { signal })),
  });
  if (edited === null && hasNothing(error, data)) return <Failure error={error} retry={() => void refetch()} />;
  if (!data) return <Loading what="the file" />;
  const save = async () => {
    await rondo.sandboxes.writeFile(sandboxId, { path, content: edited ?? '' });
    await Promise.all([refetch(), refreshKey(['files', sandboxId])]);
    setEdited((now) => (now === edited ? null : now)); // what was written meanwhile is not saved
  };
  return (
    <section className="file" aria-label={plainText(path)}>
      <header>
        <h2>
          <code>{plainText(path)}</code>
        </h2>
        <span className="hint">{data.size === null ? '' : bytes(data.size)}</span>
        <FileActions
          sandboxId={sandboxId}
          path={path}
          edit={data.content?.kind === 'text' && edited === null ? () => setEdited(toText(data.content)) : undefined}
        />
      </header>
      {edited === null ? (
        <ShownFile content={data.content} path={path} />
      ) : (
        <FileEditor path={path} before={toText(data.content)} text={edited} onChange={setEdited} save={save} />
      )}
    </section>
  );
}

const toText = (content: FileContent | null): string => (content?.kind === 'text' ? content.text : '');

interface FileActionsProps extends FileViewProps {
  /** Absent: it is no text. */
  readonly edit: (() => void) | undefined;
}

function FileActions({ sandboxId, path, edit }: FileActionsProps) {
  const rondo = useRondo();
  const refreshKey = useRefreshKey();
  const navigate = useNavigate();
  const mayWrite = useMay('write');
  const download = async () => saveAs(toName(path), await (await rondo.sandboxes.readFile(sandboxId, path)).blob());
  const remove = async () => {
    await rondo.sandboxes.deleteFile(sandboxId, { path });
    await refreshKey(['files', sandboxId]);
    await navigate({ to: '/sandboxes/$sandboxId', params: { sandboxId }, search: {} });
  };
  return (
    <span className="file-actions">
      <Action work={download}>Download</Action>
      {mayWrite && edit && <button onClick={edit}>Edit</button>}
      {mayWrite && (
        <ConfirmedAction
          name="Delete"
          label={`Delete ${plainText(path)}`}
          question={`Delete ${plainText(path)}?`}
          work={remove}
        />
      )}
    </span>
  );
}
