import { z } from 'zod';
import { type InputBlock, inputContent } from '../content';
import { endUser } from '../end-user';
import { agentId, fileId, messageId, projectId, threadId } from '../ids';
import { agentSettings, settingsRequest } from '../run-settings';
import { metadata } from './metadata';
import { mostFiles } from './route';

export const onActiveRun = z.enum(['reject', 'queue', 'replace', 'steer']);

/** The files as they were at a point of the log. */
export const workspaceThen = z.enum(['as_then']);

export const fileIds = z
  .array(fileId)
  .min(1)
  .max(mostFiles)
  .refine((ids) => new Set(ids).size === ids.length, 'must not name a file twice')
  .optional()
  .describe(
    'Uploaded files. They are in `/workspace` before the model is asked, and the message lists them; images are also shown to the model.',
  );

export const agentOfRun = agentSettings.extend({
  on_active_run: onActiveRun.optional().describe('Where the run names none itself.'),
  metadata: metadata
    .optional()
    .describe('The run has these too. Of a key that both have, the value of the run counts.'),
});
export type AgentOfRun = z.infer<typeof agentOfRun>;

const fields = settingsRequest.extend({
  agent: agentOfRun.optional(),
  agent_id: agentId
    .optional()
    .describe("A stored agent. When absent, the thread's, else the account's default; none where `agent` is given."),
  input: inputContent.optional().describe('A string, or blocks of text and images.'),
  files: fileIds,
  edit_message_id: messageId
    .optional()
    .describe(
      'The newest message that a person wrote on the thread. The input replaces it: models no longer read it and what followed. Its run is stopped if it is active.',
    ),
  workspace: workspaceThen
    .optional()
    .describe(
      'With `edit_message_id`: the files of the workspace become what they were before that message. Processes in it end. Absent: they stay as they are.',
    ),
  on_active_run: onActiveRun
    .optional()
    .describe(
      'Default: `reject`. `queue`: it waits for its turn. `replace`: the active run is stopped, and this one starts before the queued ones. ' +
        '`steer`: the active run reads the input before its next iteration, and is the answer, with `steered`; if it ends before that, a queued run begins with it.',
    ),
  user: endUser
    .optional()
    .describe(
      'The person for whom it runs, as you name them. Of a new thread, `metadata.user` counts where this is absent; on a thread, another one than that of the thread is refused.',
    ),
  metadata: metadata.default({}),
});

/** Without the rules between its fields, which are `refuseImpossibleRun`. */
export const newRunFields = fields.extend({
  thread_id: threadId.optional().describe('When absent, a new thread is created.'),
  project_id: projectId.optional().describe('The project of the new thread.'),
});

export const newRun = newRunFields.superRefine(refuseImpossibleRun);
export const newRunOnThread = fields.superRefine(refuseImpossibleEdit);

interface EditFields {
  readonly input?: readonly InputBlock[] | undefined;
  readonly files?: unknown;
  readonly edit_message_id?: string | undefined;
  readonly workspace?: string | undefined;
  readonly on_active_run?: string | undefined;
  readonly agent?: { readonly on_active_run?: string | undefined } | undefined;
}

interface PlaceFields {
  readonly thread_id?: string | undefined;
  readonly project_id?: string | undefined;
}

/** A run on a new thread needs something to do, and edits nothing; a thread stays in its project. */
export function refuseImpossibleRun(run: EditFields & PlaceFields, context: z.RefinementCtx): void {
  if (run.thread_id !== undefined && run.project_id !== undefined)
    refuse(context, 'project_id', 'a thread stays in its project: give thread_id or project_id');
  if (run.thread_id === undefined && run.edit_message_id !== undefined)
    refuse(context, 'thread_id', 'name the thread of the edited message');
  if (run.thread_id === undefined && run.input === undefined)
    refuse(context, 'input', 'give an input, a thread_id, or both');
  refuseImpossibleEdit(run, context);
}

/** An edit asks anew, and at once. */
function refuseImpossibleEdit(run: EditFields, context: z.RefinementCtx): void {
  if (run.edit_message_id === undefined) {
    if ((run.on_active_run ?? run.agent?.on_active_run) === 'steer') refuseImpossibleSteer(run, context);
    if (run.workspace !== undefined)
      refuse(context, 'workspace', 'only an edit brings files back: name edit_message_id');
    return;
  }
  if (run.input === undefined && run.files === undefined) refuse(context, 'input', 'give the edited input, or files');
  if (run.on_active_run === 'queue' || run.on_active_run === 'steer')
    refuse(context, 'on_active_run', 'an edit replaces the active run, it does not wait for it');
}

/** A run at work gets words and images: its files are in its workspace before it begins. */
function refuseImpossibleSteer(run: EditFields, context: z.RefinementCtx): void {
  if (run.input === undefined) refuse(context, 'input', 'say something to the run at work');
  if (run.files !== undefined) refuse(context, 'files', 'a run at work gets no files: use queue or replace');
  if (run.input?.some((block) => block.type === 'image' && block.source.type === 'url'))
    refuse(context, 'input', 'give a run at work the bytes of an image: it does not fetch URLs');
}

const refuse = (context: z.RefinementCtx, field: string, message: string): void =>
  context.addIssue({ code: 'custom', path: [field], message });
