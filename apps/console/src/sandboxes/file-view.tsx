import type { Rondo } from '@rondo/client';
import { plainText } from '@rondo/react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useMay } from '../session/use-may.ts';
import { useRondo } from '../session/use-session.ts';
import { Action } from '../ui/action.tsx';
import { bytes } from '../ui/amounts.ts';
import { ConfirmedAction } from '../ui/confirmed-action.tsx';
import { Picture } from '../ui/picture.tsx';
import { saveAs } from '../ui/save-as.ts';
import { Failed, Loading } from '../ui/states.tsx';
import { useRefreshKey } from '../ui/use-refresh-key.ts';
import { FileEditor } from './file-editor.tsx';
import { type FileContent, toContent, mostShownBytes, toName } from './file-content.ts';

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
    queryFn: ({ signal }) => readFile(rondo, { sandboxId, path, signal }),
  });
  if (error && !data) return <Failed error={error} retry={() => void refetch()} />;
  if (!data) return <Loading what="the file" />;
  const save = async () => {
    await rondo.sandboxes.writeFile(sandboxId, { path, content: edited ?? '' });
    await Promise.all([refetch(), refreshKey(['files', sandboxId])]);
    setEdited(null);
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
        <Shown content={data.content} name={toName(path)} />
      ) : (
        <FileEditor path={path} before={toText(data.content)} text={edited} onChange={setEdited} save={save} />
      )}
    </section>
  );
}

const toText = (content: FileContent | null): string => (content?.kind === 'text' ? content.text : '');

/** No content: it is too long to be shown. The rest of a long file is not read. */
async function readFile(
  rondo: Rondo,
  { sandboxId, path, signal }: FileViewProps & { readonly signal: AbortSignal },
): Promise<{ size: number | null; content: FileContent | null }> {
  const response = await rondo.sandboxes.readFile(sandboxId, path, { signal });
  const length = response.headers.get('Content-Length');
  const size = length === null ? null : Number(length);
  if (size === null || size > mostShownBytes) {
    await response.body?.cancel();
    return { size, content: null };
  }
  return { size, content: toContent(new Uint8Array(await response.arrayBuffer())) };
}

function Shown({ content, name }: { readonly content: FileContent | null; readonly name: string }) {
  if (content === null) return <p className="hint">It is too long to be shown here.</p>;
  if (content.kind === 'picture') return <Picture picture={content.picture} alt={`The file ${plainText(name)}`} />;
  if (content.kind === 'bytes') return <p className="hint">It is neither text nor a picture.</p>;
  if (content.text === '') return <p className="hint">The file is empty.</p>;
  return (
    <pre tabIndex={0} aria-label="Content">
      {plainText(content.text)}
    </pre>
  );
}

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
