import { useRondo } from '../session/use-session.ts';
import { DropFiles } from '../ui/drop-files.tsx';
import { useRefreshKey } from '../ui/use-refresh-key.ts';
import { joined } from './file-content.ts';

interface UploadFilesProps {
  readonly sandboxId: string;
  /** Where they go; empty for the workspace. */
  readonly directory: string;
}

/** Files go into the directory. One with the same name is replaced. */
export function UploadFiles({ sandboxId, directory }: UploadFilesProps) {
  const rondo = useRondo();
  const refreshKey = useRefreshKey();
  const upload = async (files: readonly File[], say: (words: string) => void) => {
    for (const file of files) {
      say(`Uploading ${file.name} …`);
      await rondo.sandboxes.writeFile(sandboxId, { path: joined(directory, file.name), content: file });
    }
    await refreshKey(['files', sandboxId]);
    return files.length === 1 ? 'Uploaded.' : `${files.length} files were uploaded.`;
  };
  return (
    <DropFiles
      isMultiple
      button="Upload files"
      label="Files to upload"
      hint={`or drop them here${directory === '' ? '' : `, into ${directory}/`}`}
      upload={upload}
    />
  );
}
