import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { FileTree } from '../sandboxes/file-tree.tsx';
import { stateMeaning } from '../sandboxes/sandbox-state.tsx';
import { useMay } from '../session/use-may.ts';
import { useRondo } from '../session/use-session.ts';
import { Action } from '../ui/action.tsx';
import { useRefreshKey } from '../ui/use-refresh-key.ts';
import { sandboxOfThread } from './thread-sandbox.ts';

interface FilesSectionProps {
  readonly threadId: string;
  /** Grows with each call that has ended: then the files are read again. */
  readonly endedCalls: number;
}

/** The files of the run's thread, as they are now. Looking at a run wakes no sandbox. */
export function FilesSection({ threadId, endedCalls }: FilesSectionProps) {
  const rondo = useRondo();
  const refreshKey = useRefreshKey();
  const { data: sandbox } = useQuery(sandboxOfThread(rondo, threadId));
  const sandboxId = sandbox?.id;
  useEffect(() => {
    if (endedCalls > 0) void refreshKey(['files', sandboxId]);
  }, [refreshKey, sandboxId, endedCalls]);
  return (
    <section>
      <h2>Files</h2>
      {sandbox?.state === 'awake' ? (
        <FileTree sandboxId={sandbox.id} directory="" shown={undefined} />
      ) : (
        <p className="hint">{sandbox ? stateMeaning(sandbox.state) : 'No files yet.'}</p>
      )}
      <OpenWorkspace threadId={threadId} />
    </section>
  );
}

/** Its sandbox is woken, or created if the thread has none. */
function OpenWorkspace({ threadId }: { readonly threadId: string }) {
  const rondo = useRondo();
  const navigate = useNavigate();
  const open = async () => {
    const { id } = await rondo.sandboxes.ofThread(threadId);
    await navigate({ to: '/sandboxes/$sandboxId', params: { sandboxId: id } });
  };
  if (!useMay('write')) return null;
  return <Action work={open}>Open the workspace</Action>;
}
