import { detach, followBegun, readChanges } from '../begun-run';
import type { Command } from '../command';

export const retry: Command = {
  name: 'retry',
  summary: 'Ask what a run was asked once more, and show it live',
  args: [{ name: 'RUN' }],
  options: [
    { name: 'model', short: 'm', value: 'MODEL', help: 'another model' },
    { name: 'files', value: 'as_then', help: 'the files of the workspace as they were before the run' },
    detach,
  ],
  details:
    'What the run did is withdrawn from its conversation, as by an edit of its question, and the run is stopped if it is active. Files ' +
    'stay as they are without --files as_then; `rewind-preview RUN` shows what that changes.',
  async run(given, context) {
    const [id = ''] = given.args;
    const made = await context.rondo().runs.retry(id, readChanges(given));
    return followBegun(made, { given, said: `${made.id} asks once more what ${id} was asked` }, context);
  },
};
