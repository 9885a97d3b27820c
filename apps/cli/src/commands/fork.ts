import { detach, followBegun, readChanges } from '../begun-run';
import { type Command, UsageError } from '../command';

export const fork: Command = {
  name: 'fork',
  summary: 'Start a run that begins with the log of another one, and show it live',
  args: [{ name: 'RUN' }, { name: 'INPUT', optional: true }],
  options: [
    { name: 'at', value: 'SEQ', help: 'the last fact to share; the whole log otherwise' },
    { name: 'model', short: 'm', value: 'MODEL', help: 'another model from there on' },
    { name: 'files', value: 'as_then', help: 'the files of the workspace as they were then' },
    detach,
  ],
  details:
    'Facts are shared up to a place between two iterations. Where the model has said its last word, INPUT is needed. Tools that ' +
    'are shared are not run again, and the workspace of the fork is a new one; with --files as_then, it has the files of that point.',
  async run(given, context) {
    const { rondo } = context;
    const [id = '', input] = given.args;
    const at = given.value('at');
    const at_seq = at === undefined ? (await rondo().runs.get(id)).last_seq : Number(at);
    if (!Number.isInteger(at_seq) || at_seq < 1) throw new UsageError('--at takes the seq of a fact.');
    const made = await rondo().runs.fork(id, {
      at_seq,
      ...(input !== undefined && { input }),
      ...readChanges(given),
    });
    const after = made.forked_from?.seq ?? 0;
    return followBegun(made, { given, after, said: `${made.id} shares ${after} facts with ${id}` }, context);
  },
};
