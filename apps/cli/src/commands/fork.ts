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

export const rewindPreview: Command = {
  name: 'rewind-preview',
  summary: 'Show what a return of the files to a point of a run would change, and what it cannot undo',
  args: [{ name: 'RUN' }],
  options: [
    { name: 'at', value: 'SEQ', help: 'after this fact, as of a fork; before the first call of the run otherwise' },
  ],
  details: 'Nothing changes. `fork --files as_then` begins a run with the files of that point.',
  async run(given, { rondo, terminal }) {
    const [id = ''] = given.args;
    const at = given.value('at');
    if (at !== undefined && !/^[1-9]\d*$/.test(at)) throw new UsageError('--at takes the seq of a fact.');
    const preview = await rondo().runs.rewindPreview(id, at === undefined ? {} : { at_seq: Number(at) });
    if (terminal.isJson) {
      terminal.json(preview);
      return 'ok';
    }
    for (const [kind, { count, paths }] of Object.entries(preview.files)) {
      terminal.line(`${kind}: ${count}`);
      for (const path of paths) terminal.line(`  ${JSON.stringify(path).slice(1, -1)}`); // names are of the workspace, and may be anything
    }
    terminal.line(`not undone: ${preview.effects.length}${preview.effects_truncated ? ' and more' : ''}`);
    for (const { tool_call_id: call, name, effect_class: effect } of preview.effects)
      terminal.line(`  ${call} ${name} (${effect})`);
    return 'ok';
  },
};
