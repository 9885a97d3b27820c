import { messageId } from '@rondo/contract';
import type { z } from 'zod';

export const editedMessage = messageId
  .optional()
  .describe(
    'The newest message that a person wrote on the thread. The input replaces it: models no longer read it and what followed. Its run is stopped if it is active.',
  );

interface EditFields {
  readonly input?: unknown;
  readonly files?: unknown;
  readonly edit_message_id?: string | undefined;
  readonly on_active_run: string;
}

type Refuse = z.core.$RefinementCtx;

const refuse = (context: Refuse, field: string, message: string): void =>
  context.addIssue({ code: 'custom', path: [field], message });

/** An edit asks anew, and at once. */
export function refuseImpossibleEdit(run: EditFields, context: Refuse): void {
  if (run.edit_message_id === undefined) return;
  if (run.input === undefined && run.files === undefined) refuse(context, 'input', 'give the edited input, or files');
  if (run.on_active_run === 'queue')
    refuse(context, 'on_active_run', 'an edit replaces the active run, it does not wait for it');
}

interface PlaceFields {
  readonly thread_id?: string | undefined;
  readonly project_id?: string | undefined;
}

/** A run on a new thread needs something to do, and edits nothing; a thread stays in its project. */
export function refuseImpossibleRun(run: EditFields & PlaceFields, context: Refuse): void {
  if (run.thread_id !== undefined && run.project_id !== undefined)
    refuse(context, 'project_id', 'a thread stays in its project: give thread_id or project_id');
  if (run.thread_id === undefined && run.edit_message_id !== undefined)
    refuse(context, 'thread_id', 'name the thread of the edited message');
  if (run.thread_id === undefined && run.input === undefined)
    refuse(context, 'input', 'give an input, a thread_id, or both');
  refuseImpossibleEdit(run, context);
}
