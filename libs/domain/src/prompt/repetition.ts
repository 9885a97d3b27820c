import type { Coverage, NewMessage, RecordedResult } from '@rondo/contract';
import { indexOf } from '../context/message-range';
import type { AgentRun } from '../loop-context';
import type { RunState } from '../run/run-state';
import type { ToolSet } from '../tools/tool-set';

type Repeating = {
  readonly run: Pick<AgentRun, 'id' | 'settings' | 'tools'>;
  readonly state: Pick<RunState, 'conversation' | 'context'>;
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
 * polls a running process. Of those that a summary replaces, which may not have been read, the summary has the number.
 */
function timesInARow(run: Pick<AgentRun, 'id' | 'tools'>, { conversation, context }: Repeating['state']): number {
  const after = indexOf(conversation, context.summary?.covers.to_message_id);
  let times = 0;
  let last: string | undefined;
  for (const calls of latestIterations(run, conversation, after)) {
    last ??= calls;
    if (calls === polling || calls !== last) return times;
    times += 1;
  }
  const isWhole = conversation.findLastIndex(({ type }) => type === 'user') <= after;
  return isWhole ? times + readRepeated(run, conversation[indexOf(conversation, context.summary?.id)]) : times;
}

/** How many of the iterations that a new summary replaces begin the repetition that goes on after them. */
export function countRepeated({ run, state }: Repeating, covers: Coverage): number {
  const shown = [...latestIterations(run, state.conversation, indexOf(state.conversation, covers.to_message_id))];
  return Math.max(0, timesInARow(run, state) - shown.length);
}

const readRepeated = ({ id }: Pick<AgentRun, 'id'>, summary: NewMessage | undefined): number => {
  const repeated = summary?.run_id === id ? summary.metadata['repeated'] : undefined;
  return typeof repeated === 'number' ? repeated : 0;
};

/**
 * The calls of each iteration after a message with their results, as text; empty for an iteration without calls. Starts with the
 * last iteration, so that a long conversation is read no further back than the repetition goes.
 */
function* latestIterations(
  { id, tools }: Pick<AgentRun, 'id' | 'tools'>,
  conversation: RunState['conversation'],
  after: number,
): Generator<string, void> {
  const results = new Map<string, RecordedResult>();
  let iteration: number | null | undefined;
  let calls = '';
  for (let index = conversation.length - 1; index > after; index -= 1) {
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
