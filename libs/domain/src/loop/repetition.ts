import type { NewMessage, RecordedResult } from '@rondo/contract';
import type { AgentRun } from './loop-context';
import type { RunState } from '../run/run-state';
import type { ToolSet } from '../tools/tool-set';

type Repeating = {
  readonly run: Pick<AgentRun, 'id' | 'settings' | 'tools'>;
  readonly state: Pick<RunState, 'conversation'>;
};

/** The run does the same again and again, as often as its settings let it (W22). */
export function isStuck({ run, state }: Repeating): boolean {
  const most = mostOf(run);
  return timesInARow(run, state) >= most;
}

const mostOf = ({ settings }: Pick<AgentRun, 'settings'>): number => settings.limits.max_identical_calls || Infinity; // 0: no limit

/** From this time on a model is warned, or from the last but one where it may not do the same so often. */
const warnedFrom = 3;

/** What a model is told that may soon have done the same too often. Undefined where there is nothing to say. */
export function warningOf({ run, state }: Repeating): string | undefined {
  const most = mostOf(run);
  if (most === Infinity) return undefined;
  const times = timesInARow(run, state);
  if (times < Math.min(warnedFrom, Math.max(2, most - 2))) return undefined;
  return `You have done exactly the same ${times} times in a row, with the same result each time. Do something else: after ${most} times the run ends.`;
}

/**
 * In how many iterations in a row, the last one included, the run made the same calls and got the same results. Words do
 * not count, as those of a model that goes in circles differ; a person who says something begins the count anew, and so
 * does an iteration that asked about a process which still runs.
 */
function timesInARow(run: Pick<AgentRun, 'id' | 'tools'>, { conversation }: Pick<RunState, 'conversation'>): number {
  let times = 0;
  let last: string | undefined;
  for (const deed of latestDeeds(run, conversation)) {
    last ??= deed;
    if (deed === waiting || deed !== last) break;
    times += 1;
  }
  return times;
}

/**
 * Per iteration its calls, each with what came of it, as text; empty for one that called nothing. The last iteration comes
 * first, so that a long conversation is read no further back than it repeats itself.
 */
function* latestDeeds(
  { id, tools }: Pick<AgentRun, 'id' | 'tools'>,
  conversation: RunState['conversation'],
): Generator<string, void> {
  const results = new Map<string, RecordedResult>();
  let iteration: number | null | undefined;
  let deed = '';
  for (let index = conversation.length - 1; index >= 0; index -= 1) {
    const message = conversation[index];
    if (!message || message.type === 'user') break;
    if (message.run_id !== id) continue;

    for (const block of message.content)
      if (block.type === 'tool_result') results.set(block.tool_call_id, block.result);
    if (message.type !== 'assistant') continue;

    if (iteration !== undefined && iteration !== message.iteration) {
      yield deed;
      deed = '';
    }
    iteration = message.iteration;
    deed = joined(callsOf(message, results, tools), deed);
  }
  if (iteration !== undefined) yield deed;
}

/** No calls are written like this. */
const waiting = 'waiting';

const joined = (first: string, then: string): string =>
  first === waiting || then === waiting ? waiting : first + then;

const callsOf = ({ content }: NewMessage, results: ReadonlyMap<string, RecordedResult>, tools: ToolSet): string =>
  content
    .filter((block) => block.type === 'tool_call')
    .map((call) => {
      const result = results.get(call.tool_call_id);
      const isWaiting = result !== undefined && tools.named(call.name)?.isWaiting?.(result.output) === true;
      return isWaiting ? waiting : JSON.stringify([call.name, call.arguments, result]);
    })
    .reduce(joined, '');
