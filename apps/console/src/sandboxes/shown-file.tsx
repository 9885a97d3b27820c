import { plainText } from '@rondo/react';
import { Picture } from '../ui/picture.tsx';
import { type FileContent, mostShownBytes, toContent, toName } from './file-content.ts';

/** A file that was read. No content: it is too long to be shown. */
export interface ReadFile {
  readonly size: number | null;
  readonly content: FileContent | null;
}

/** The rest of a file that is too long is not read. */
export async function readFile(response: Response): Promise<ReadFile> {
  const length = response.headers.get('Content-Length');
  const size = length === null ? null : Number(length);
  if (size === null || size > mostShownBytes) {
    await response.body?.cancel();
    return { size, content: null };
  }
  return { size, content: toContent(new Uint8Array(await response.arrayBuffer())) };
}

/** Text or a picture, or why it is not shown. */
export function ShownFile({ content, path }: { readonly content: FileContent | null; readonly path: string }) {
  if (content === null) return <p className="hint">It is too long to be shown here.</p>;
  if (content.kind === 'picture')
    return <Picture picture={content.picture} alt={`The file ${plainText(toName(path))}`} />;
  if (content.kind === 'bytes') return <p className="hint">It is neither text nor a picture.</p>;
  if (content.text === '') return <p className="hint">The file is empty.</p>;
  return (
    <pre tabIndex={0} aria-label="Content">
      {plainText(content.text)}
    </pre>
  );
}
