import { type RunWait, describeEnding } from '@rondo/client';
import type { Command, Context } from '../command';
import { findRemedy, raiseStep } from '../next-step';
import { age } from './runs';

/** What a person can do about it. */
const next: Partial<Record<RunWait['cause'], (wait: RunWait) => string>> = {
  answer: ({ run_id: id }) => `rondo answer ${id} "…"`,
  tool_unknown: ({ tool_calls: calls = [] }) => `rondo resolve ${calls[0]?.id ?? 'CALL'} completed|not_applied|retry`,
  approval: ({ run_id: id }) => `rondo approve ${id} · rondo deny ${id} --reason "…"`,
  budget: ({ run_id: id, budget }) => raiseStep(id, budget),
  elicitation: ({ run_id: id }) => `rondo answer ${id} --accept '{…}' · rondo answer ${id} --decline`,
  thread: ({ behind_run_id: id }) => `rondo watch ${id ?? 'RUN'}`,
  workspace: ({ run_id: id }) => `rondo watch ${id}`,
  worker: () => 'rondo doctor',
};

/** The words of an ending are those of the console; the gateway says only that the run is over. */
async function sayEnding({ run_id: id, sentence }: RunWait, { rondo, terminal }: Context): Promise<void> {
  const run = await rondo().runs.get(id);
  terminal.line(describeEnding(run)?.sentence ?? sentence);
  const remedy = findRemedy(run);
  if (remedy !== undefined) terminal.note(`→ ${remedy}`, 'dim');
}

export const why: Command = {
  name: 'why',
  summary: 'Say in one sentence what a run waits for',
  args: [{ name: 'RUN' }],
  async run(given, context) {
    const { rondo, terminal } = context;
    const wait = await rondo().runs.why(given.args[0] ?? '');
    if (terminal.isJson) terminal.json(wait);
    else if (wait.cause === 'none') await sayEnding(wait, context);
    else terminal.line(`${wait.sentence} (${age(wait.step?.since ?? wait.since)})`);
    const advice = next[wait.cause]?.(wait);
    if (advice !== undefined) terminal.note(`→ ${advice}`, 'dim');
    return 'ok';
  },
};
