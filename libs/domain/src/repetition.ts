import type { NewMessage } from './message';
import type { AgentRun } from './pass';
import type { RunState } from './run-state';

type Repeating = {
  readonly run: Pick<AgentRun, 'id' | 'settings'>;
  readonly state: Pick<RunState, 'conversation'>;
};

/** The run does the same again and again, as often as its settings let it (W22). */
export function isStuck({ run, state }: Repeating): boolean {
  const most = run.settings.limits.max_identical_calls;
  return most !== undefined && timesInARow(run, state) >= most;
}

/** What a model is told that may soon have done the same too often. Undefined where there is nothing to say. */
export function warningOf({ run, state }: Repeating): string | undefined {
  const most = run.settings.limits.max_identical_calls;
  if (most === undefined) return undefined;
  const times = timesInARow(run, state);
  if (times < Math.max(2, most - 2)) return undefined;
  return `You have done exactly the same ${times} times in a row, with the same result each time. Do something else: after ${most} times the run ends.`;
}

/**
 * In how many iterations in a row, the last one included, the run made the same calls and got the same results. Words do
 * not count, as those of a model that goes in circles differ; a person who says something begins the count anew.
 */
function timesInARow({ id }: Pick<AgentRun, 'id'>, { conversation }: Pick<RunState, 'conversation'>): number {
  const since = conversation.findLastIndex(({ type }) => type === 'user') + 1;
  const deeds = deedsOf(conversation.slice(since).filter(({ run_id }) => run_id === id));
  const last = deeds.at(-1);
  if (!last) return 0;
  return deeds.length - 1 - deeds.findLastIndex((deed) => deed !== last);
}

/** Per iteration its calls, each with what came of it, as text. Empty for one that called nothing. */
function deedsOf(messages: readonly NewMessage[]): string[] {
  const results = new Map(
    messages.flatMap(({ content }) =>
      content.flatMap((block) => (block.type === 'tool_result' ? [[block.tool_call_id, block.result] as const] : [])),
    ),
  );
  const deeds = new Map<number | null, string>();
  for (const { type, iteration, content } of messages) {
    if (type !== 'assistant') continue;
    for (const block of content)
      if (block.type === 'tool_call') {
        const deed = JSON.stringify([block.name, block.arguments, results.get(block.tool_call_id)]);
        deeds.set(iteration, (deeds.get(iteration) ?? '') + deed);
      }
    if (!deeds.has(iteration)) deeds.set(iteration, '');
  }
  return [...deeds.values()];
}
