import type { NewFact } from '@rondo/contract';
import type { LoopContext } from '../loop-context';

/**
 * What an iteration begins with: a run that has read a message asks the model next. Its queued run ends with the same commit.
 */
export function readMessages({ unread, run, state, ports }: LoopContext): NewFact[] {
  if (state.phase === 'thinking') return [];
  return unread.map(({ queuedRun, content }) => ({
    type: 'message.created',
    iteration: state.iteration,
    data: {
      message: {
        id: ports.ids.messageId(),
        ...{ thread_id: run.threadId, run_id: run.id, iteration: null },
        ...{ type: 'user', is_llm_message: true, content: [...content], metadata: { queued_as: queuedRun } },
      },
    },
  }));
}
