import type { NewMessage, RecordedResult } from '@rondo/contract';
import type { AgentRun } from '../loop-context';
import type { RunState } from '../run/run-state';
import type { ToolSet } from '../tools/tool-set';

type Repeating = {
  readonly run: Pick<AgentRun, 'id' | 'settings' | 'tools'>;
  readonly state: Pick<RunState, 'conversation'>;
};

/** The run has repeated the same calls with the same results as often as its settings allow. */
export function isStuck({ run, state }: Repeating): boolean {
  return timesInARow(run, state) >= toLimit(run);
}

const toLimit = ({ settings }: Pick<AgentRun, 'settings'>): number => settings.limits.max_identical_calls || Infinity; // 0: no limit

/** Repetitions before the first warning; with a low limit, the model is warned two repetitions before the limit. */
const timesBeforeWarning = 3;

/** The warning for a model that is close to the limit; undefined if it is not. */
export function findWarning({ run, state }: Repeating): string | undefined {
  const limit = toLimit(run);
  if (limit === Infinity) return undefined;
  const times = timesInARow(run, state);
  if (times < Math.min(timesBeforeWarning, Math.max(2, limit - 2))) return undefined;
  return `You have done exactly the same ${times} times in a row, with the same result each time. Do something else: after ${limit} times the run ends.`;
}

/**
 * The number of iterations in a row, up to the last one, with the same calls and the same results. Text is ignored,
 * because a model in a loop varies its words. A message of the user restarts the count, and so does an iteration that
 * polls a running process.
 */
function timesInARow(run: Pick<AgentRun, 'id' | 'tools'>, { conversation }: Pick<RunState, 'conversation'>): number {
  let times = 0;
  let last: string | undefined;
  for (const calls of latestIterations(run, conversation)) {
    last ??= calls;
    if (calls === polling || calls !== last) break;
    times += 1;
  }
  return times;
}

/**
 * The calls of each iteration with their results, as text; empty for an iteration without calls. Starts with the last
 * iteration, so that a long conversation is read no further back than the repetition goes.
 */
function* latestIterations(
  { id, tools }: Pick<AgentRun, 'id' | 'tools'>,
  conversation: RunState['conversation'],
): Generator<string, void> {
  const results = new Map<string, RecordedResult>();
  let iteration: number | null | undefined;
  let calls = '';
  for (let index = conversation.length - 1; index >= 0; index -= 1) {
    const message = conversation[index];
    if (!message || message.type === 'user') break;
    if (message.run_id !== id) continue;

    for (const block of message.content)
      if (block.type === 'tool_result') results.set(block.tool_call_id, block.result);
    if (message.type !== 'assistant') continue;

    if (iteration !== undefined && iteration !== message.iteration) {
      yield calls;
      calls = '';
    }
    iteration = message.iteration;
    calls = joinTexts(toCalls(message, results, tools), calls);
  }
  if (iteration !== undefined) yield calls;
}

/** Marks an iteration that polls a process; the text of calls is JSON and never equals it. */
const polling = 'polling';

const joinTexts = (first: string, then: string): string =>
  first === polling || then === polling ? polling : first + then;

const toCalls = ({ content }: NewMessage, results: ReadonlyMap<string, RecordedResult>, tools: ToolSet): string =>
  content
    .filter((block) => block.type === 'tool_call')
    .map((call) => {
      const result = results.get(call.tool_call_id);
      const isPolling = result !== undefined && tools.named(call.name)?.isWaiting?.(result.output) === true;
      return isPolling ? polling : JSON.stringify([call.name, call.arguments, result]);
    })
    .reduce(joinTexts, '');
