import { useNavigate } from '@tanstack/react-router';
import { useMay } from '../session/use-may.ts';
import { useRondo } from '../session/use-session.ts';
import { Action } from '../ui/action.tsx';

/** The way to the files of the run's thread. To show them, its sandbox is woken. */
export function FilesSection({ threadId }: { readonly threadId: string }) {
  const rondo = useRondo();
  const navigate = useNavigate();
  const open = async () => {
    const { id } = await rondo.sandboxes.ofThread(threadId);
    await navigate({ to: '/sandboxes/$sandboxId', params: { sandboxId: id } });
  };
  if (!useMay('write')) return null;
  return (
    <section>
      <h2>Files</h2>
      <Action work={open}>Open the workspace</Action>
    </section>
  );
}
