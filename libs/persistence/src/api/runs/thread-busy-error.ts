import type { RunId, ThreadId } from '@rondo/contract';
import { TerminalError } from '@rondo/domain';

/** The thread has a run that is not over (I9). */
export class ThreadBusyError extends TerminalError {
  override readonly name = 'ThreadBusyError';

  constructor(
    readonly threadId: ThreadId,
    readonly activeRunId: RunId,
  ) {
    super('thread_busy', `${activeRunId} is active on ${threadId}.`);
  }
}
