import { Link } from '@tanstack/react-router';
import { Status } from '../ui/status.tsx';
import { useTimelineLinks } from './timeline-links.ts';

/** From a call of `run_agent` to the run that it has started. */
export function ChildLink({ callId }: { readonly callId: string }) {
  const child = useTimelineLinks().children.get(callId);
  if (!child) return null;
  return (
    <p className="child-link">
      <Link to="/runs/$runId" params={{ runId: child.id }} title={child.id}>
        The run that it started
      </Link>
      <Status status={child.status} finishReason={child.finish_reason} />
    </p>
  );
}
