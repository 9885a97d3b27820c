import { type Command, UsageError } from '../command';
import { followRun } from '../follow-run';

export const retry: Command = {
  name: 'retry',
  summary: 'Ask what a run was asked once more, and show it live',
  args: [{ name: 'RUN' }],
  options: [
    { name: 'model', short: 'm', value: 'MODEL', help: 'another model' },
    { name: 'files', value: 'as_then', help: 'the files of the workspace as they were before the run' },
    { name: 'detach', short: 'd', help: 'print the id of the run and leave' },
  ],
  details:
    'What the run did is withdrawn from its conversation, as by an edit of its question, and the run is stopped if it is active. Files ' +
    'stay as they are without --files as_then; `rewind-preview RUN` shows what that changes.',
  async run(given, context) {
    const { rondo, terminal } = context;
    const [id = ''] = given.args;
    const model = given.value('model');
    const files = given.value('files');
    if (files !== undefined && files !== 'as_then') throw new UsageError('--files takes as_then.');
    const made = await rondo().runs.retry(id, {
      ...(model !== undefined && { model }),
      ...(files !== undefined && { workspace: files }),
    });
    if (given.has('detach')) {
      if (terminal.isJson) terminal.json(made);
      else terminal.line(made.id);
      return 'ok';
    }
    terminal.note(`${made.id} asks once more what ${id} was asked`, 'dim');
    return followRun(made.id, { onInterrupt: 'ask' }, context);
  },
};
