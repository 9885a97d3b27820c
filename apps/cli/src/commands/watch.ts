import { type Command, type Context, UsageError } from '../command';
import { followRun } from '../follow-run';

/** The run that is named, or the newest. */
async function readRun(name: string | undefined, { rondo }: Context): Promise<string> {
  if (name !== undefined) return name;
  for await (const { id } of rondo().runs.list({ limit: 1 })) return id;
  throw new UsageError('There is no run yet.');
}

export const watch: Command = {
  name: 'watch',
  summary: 'Show a run live, from its beginning; the newest run unless one is named',
  args: [{ name: 'RUN', optional: true }],
  options: [{ name: 'from', value: 'SEQ', help: 'begin after this fact' }],
  details: 'A connection that is cut is made again and continues where it was. Ctrl-C leaves; the run goes on.',
  async run(given, context) {
    const after = Number(given.value('from') ?? 0);
    if (!Number.isInteger(after) || after < 0) throw new UsageError('--from takes the seq of a fact.');
    return followRun(await readRun(given.args[0], context), { after, onInterrupt: 'leave' }, context);
  },
};
