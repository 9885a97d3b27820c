import { type Command, UsageError } from '../command';

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
