import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useRondo } from '../session/use-session.ts';
import { sandboxOfThread } from './thread-sandbox.ts';
import { useTimelineLinks } from './timeline-links.ts';

/** A link to a file of the run's workspace, where the earlier lines of an output are kept. */
export function WorkspaceFile({ path }: { readonly path: string }) {
  const rondo = useRondo();
  const { threadId } = useTimelineLinks();
  const { data: sandbox } = useQuery({ ...sandboxOfThread(rondo, threadId ?? ''), enabled: threadId !== undefined });
  if (!sandbox) return null;
  return (
    <p className="hint">
      What is left out is in{' '}
      <Link
        to="/sandboxes/$sandboxId"
        params={{ sandboxId: sandbox.id }}
        search={{ path: path.replace(/^\/workspace\//, '') }}
      >
        {path}
      </Link>
      .
    </p>
  );
}
