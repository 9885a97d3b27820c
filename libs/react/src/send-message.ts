import { type HandledRun, type Rondo, type Run, toNewRun } from '@rondo/client';

/** What becomes of a message while a run is active: it reads it before it goes on, or a run after it reads it, or one instead of it. */
export type WhileActive = 'steer' | 'queue' | 'replace';

/** What a run begins with, beside what a person says. */
export type RunFields = Omit<HandledRun, 'input' | 'files' | 'thread_id' | 'edit_message_id' | 'on_active_run'>;

export interface NewMessage {
  readonly text: string;
  /** The ids of uploaded files. */
  readonly files?: readonly string[];
  /** Default: `steer`. Files wait for a run after it: a run at work gets none. */
  readonly whileActive?: WhileActive;
  /** Of the run that the message starts, if it starts one. */
  readonly run?: RunFields | undefined;
}

export interface WhereTo {
  /** Absent: a new thread. */
  readonly threadId?: string | undefined;
  readonly active?: Run | undefined;
  /** The question that is asked anew: what followed it is withdrawn, and a run that works on it is stopped. */
  readonly editedMessageId?: string | undefined;
}

/** Sends a message to a thread, in the way that its active run needs. Resolves with the id of the thread. */
export async function sendMessage(
  rondo: Rondo,
  { threadId, active, editedMessageId }: WhereTo,
  { text, files = [], whileActive = 'steer', run: fields = {} }: NewMessage,
): Promise<string> {
  const isEdit = editedMessageId !== undefined;
  const withFiles = files.length > 0 && { files: [...files] };
  if (!isEdit && active && isQuestion(active)) {
    await rondo.runs.answer(active.id, text, { ...withFiles });
    return active.thread_id;
  }
  const run = await rondo.runs.create(
    toNewRun({
      ...fields,
      input: text,
      ...withFiles,
      ...(threadId !== undefined && { thread_id: threadId }),
      ...(isEdit
        ? { edit_message_id: editedMessageId }
        : active && { on_active_run: withFiles && whileActive === 'steer' ? 'queue' : whileActive }),
    }),
  );
  return run.thread_id;
}

/** Whether the run waits for an answer in words. */
export const isQuestion = ({ status, waiting }: Pick<Run, 'status' | 'waiting'>): boolean =>
  status === 'waiting_input' && waiting?.reason === 'ask';
