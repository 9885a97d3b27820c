import { plainText } from '@rondo/react';
import { type FileContent, mostShownBytes, toContent, toName } from './file-content.ts';
import { useEffect, useState } from 'react';

/** A file that was read. No content: it is too long to be shown. */
interface ReadFile {
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
  if (content === null) return <p className="hint">It is too long to be shown here. Download it to read it.</p>;
  if (content.kind === 'picture')
    return <Picture picture={content.picture} alt={`The file ${plainText(toName(path))}`} />;
  if (content.kind === 'bytes')
    return <p className="hint">It is neither text nor a picture. Download it to open it.</p>;
  if (content.text === '') return <p className="hint">The file is empty.</p>;
  return (
    <pre tabIndex={0} aria-label="Content">
      {plainText(content.text)}
    </pre>
  );
}

/** Bytes that were read as a picture. */
function Picture({ picture, alt }: { readonly picture: Blob; readonly alt: string }) {
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    const created = URL.createObjectURL(picture);
    setUrl(created);
    return () => URL.revokeObjectURL(created);
  }, [picture]);
  return url === undefined ? <div className="picture-space" /> : <img src={url} alt={alt} />;
}
