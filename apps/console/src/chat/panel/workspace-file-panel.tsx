import { useQuery } from '@tanstack/react-query';
import { FileView } from '../../sandboxes/file-view.tsx';
import { useRondo } from '../../session/use-session.ts';
import { Failure, Loading } from '../../ui/states.tsx';

interface WorkspaceFilePanelProps {
  readonly threadId: string;
  readonly path: string;
}

/** A file of the thread's workspace as it is now. To read it wakes the sandbox. */
export default function WorkspaceFilePanel({ threadId, path }: WorkspaceFilePanelProps) {
  const rondo = useRondo();
  const { data, error, refetch } = useQuery({
    queryKey: ['workspace of', threadId],
    queryFn: ({ signal }) => rondo.sandboxes.find(threadId, { signal }),
    retry: false,
  });
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  return data ? <FileView sandboxId={data.id} path={path} /> : <Loading what="the file" />;
}
