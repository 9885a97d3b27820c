import type { Rondo, Run } from '@rondo/client';
import type { RunChoice } from './run-choice.tsx';

/** What becomes of a message while a run is active: it reads it, a run after it does, or one instead of it. */
export type WhileActive = 'tell' | 'queue' | 'replace';

export interface NewWords {
  readonly text: string;
  readonly files: string[];
  readonly choice: RunChoice;
  readonly whileActive: WhileActive;
}

export interface WhereTo {
  /** Absent: a new thread. */
  readonly threadId?: string;
  readonly active?: Run | undefined;
  /** The question that is asked anew: what followed it is withdrawn, and a run that works on it is stopped. */
  readonly editedMessageId?: string | undefined;
}

const waysIn = { tell: 'queue', queue: 'queue', replace: 'replace' } as const;

/** Sends a message to a thread, in the way that its active run needs. Resolves with the id of the thread. */
export async function sendMessage(
  rondo: Rondo,
  { threadId, active, editedMessageId }: WhereTo,
  { text, files, choice, whileActive }: NewWords,
): Promise<string> {
  const isEdit = editedMessageId !== undefined;
  if (!isEdit && active?.status === 'waiting_input' && active.waiting?.reason === 'ask') {
    await rondo.runs.answer(active.id, text, files.length > 0 ? { files } : {});
    return active.thread_id;
  }
  if (!isEdit && active && threadId !== undefined && whileActive === 'tell' && files.length === 0) {
    await rondo.threads.addMessage(threadId, text);
    return threadId;
  }
  const run = await rondo.runs.create({
    input: text,
    ...(files.length > 0 && { files }),
    ...(threadId !== undefined && { thread_id: threadId }),
    ...(choice.agentId !== '' && { agent_id: choice.agentId }),
    ...(choice.model.trim() !== '' && { model: choice.model.trim() }),
    ...(isEdit ? { edit_message_id: editedMessageId } : active && { on_active_run: waysIn[whileActive] }),
  });
  return run.thread_id;
}
