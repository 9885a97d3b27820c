import { type Command, UsageError } from '../command';
import { followRun } from '../follow-run';

export const fork: Command = {
  name: 'fork',
  summary: 'Start a run that begins with the log of another one, and show it live',
  args: [{ name: 'RUN' }, { name: 'INPUT', optional: true }],
  options: [
    { name: 'at', value: 'SEQ', help: 'the last fact to share; the whole log otherwise' },
    { name: 'model', short: 'm', value: 'MODEL', help: 'another model from there on' },
    { name: 'files', value: 'as_then', help: 'the files of the workspace as they were then' },
    { name: 'detach', short: 'd', help: 'print the id of the run and leave' },
  ],
  details:
    'Facts are shared up to a place between two iterations. Where the model has said its last word, INPUT is needed. Tools that ' +
    'are shared are not run again, and the workspace of the fork is a new one; with --files as_then, it has the files of that point.',
  async run(given, context) {
    const { rondo, terminal } = context;
    const [id = '', input] = given.args;
    const at = given.value('at');
    const at_seq = at === undefined ? (await rondo().runs.get(id)).last_seq : Number(at);
    if (!Number.isInteger(at_seq) || at_seq < 1) throw new UsageError('--at takes the seq of a fact.');
    const model = given.value('model');
    const files = given.value('files');
    if (files !== undefined && files !== 'as_then') throw new UsageError('--files takes as_then.');
    const made = await rondo().runs.fork(id, {
      at_seq,
      ...(input !== undefined && { input }),
      ...(model !== undefined && { model }),
      ...(files !== undefined && { workspace: files }),
    });
    if (given.has('detach')) {
      if (terminal.isJson) terminal.json(made);
      else terminal.line(made.id);
      return 'ok';
    }
    terminal.note(`${made.id} shares ${made.forked_from?.seq ?? 0} facts with ${id}`, 'dim');
    return followRun(made.id, { after: made.forked_from?.seq ?? 0, onInterrupt: 'ask' }, context);
  },
};
