import { type ChangeEvent, type DragEvent, useRef, useState } from 'react';
import { useRondo } from '../session/use-session.ts';
import { problemText } from '../ui/problem-text.ts';
import { useRefreshKey } from '../ui/use-refresh-key.ts';
import { joined } from './file-content.ts';

interface UploadFilesProps {
  readonly sandboxId: string;
  /** Where they go; empty for the workspace. */
  readonly directory: string;
}

/** Files that are chosen or dropped are written into the directory. One with the same name is replaced. */
export function UploadFiles({ sandboxId, directory }: UploadFilesProps) {
  const rondo = useRondo();
  const refreshKey = useRefreshKey();
  const field = useRef<HTMLInputElement>(null);
  const [state, setState] = useState<{ words: string; isProblem: boolean }>({ words: '', isProblem: false });
  const upload = async (files: readonly File[]) => {
    for (const file of files) {
      setState({ words: `Uploading ${file.name} …`, isProblem: false });
      await rondo.sandboxes.writeFile(sandboxId, { path: joined(directory, file.name), content: file });
    }
    setState({ words: files.length === 1 ? 'Uploaded.' : `${files.length} files were uploaded.`, isProblem: false });
    await refreshKey(['files', sandboxId]);
  };
  const begin = (files: FileList | null) => {
    if (files && files.length > 0)
      upload([...files]).catch((error: unknown) => setState({ words: problemText(error), isProblem: true }));
  };
  const choose = ({ currentTarget }: ChangeEvent<HTMLInputElement>) => {
    begin(currentTarget.files);
    currentTarget.value = '';
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    begin(event.dataTransfer.files);
  };
  return (
    <div className="upload" onDrop={drop} onDragOver={(event) => event.preventDefault()}>
      <input ref={field} type="file" multiple hidden aria-label="Files to upload" onChange={choose} />
      <button onClick={() => field.current?.click()}>Upload files</button>
      <span className={state.isProblem ? 'problem' : 'hint'} role="status">
        {state.words === '' ? `or drop them here${directory === '' ? '' : `, into ${directory}/`}` : state.words}
      </span>
    </div>
  );
}
