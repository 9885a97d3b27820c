import { type NewId, type NewFact, type RunId, type ThreadId, type UserBlock, messageId } from '@rondo/contract';

export interface Input {
  readonly runId: RunId;
  readonly threadId: ThreadId;
  readonly iteration: number;
  readonly content: readonly UserBlock[];
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** What a person said to a run, as a fact of the run. */
export const inputFact = ({ runId, threadId, iteration, content, metadata }: Input, newId: NewId): NewFact => ({
  type: 'message.created',
  iteration,
  data: {
    message: {
      id: messageId.parse(`msg_${newId()}`),
      thread_id: threadId,
      run_id: runId,
      iteration: null,
      type: 'user',
      is_llm_message: true,
      content: [...content],
      metadata: { ...metadata },
    },
  },
});
