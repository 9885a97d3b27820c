import { describeEnding } from '@rondo/client';
import type { EndedRun } from '@rondo/react';
import { Status } from '../ui/status.tsx';

/** How a run of the conversation ended that did not complete. */
export function Ending({ run }: { readonly run: EndedRun }) {
  return (
    <p className="chat-ending">
      <Status status={run.status} finishReason={run.finish_reason} />
      <span>{describeEnding(run)?.sentence}</span>
    </p>
  );
}
