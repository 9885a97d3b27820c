import type { Run } from '@rondo/client';
import { type Context, type Given, type Option, UsageError } from './command';
import type { Ending } from './exit-codes';
import { type Following, followRun } from './follow-run';

export const detach: Option = { name: 'detach', short: 'd', help: 'print the id of the run and leave' };

/** What a run that begins from another one has otherwise: the values of `--model` and `--files`. */
export function readChanges(given: Given): { readonly model?: string; readonly workspace?: 'as_then' } {
  const model = given.value('model');
  const files = given.value('files');
  if (files !== undefined && files !== 'as_then') throw new UsageError('--files takes as_then.');
  return { ...(model !== undefined && { model }), ...(files !== undefined && { workspace: files }) };
}

interface Begun extends Pick<Following, 'after' | 'tools'> {
  readonly given: Given;
  /** What is said of the run before it is shown. */
  readonly said?: string;
}

/** Shows a run that a command has begun, or only its id with `--detach`. */
export async function followBegun(run: Run, { given, said, ...following }: Begun, context: Context): Promise<Ending> {
  const { terminal } = context;
  if (given.has('detach')) {
    if (terminal.isJson) terminal.json(run);
    else terminal.line(run.id);
    return 'ok';
  }
  if (said !== undefined) terminal.note(said, 'dim');
  return followRun(run.id, { ...following, onInterrupt: 'ask' }, context);
}
