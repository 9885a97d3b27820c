import {
  type RecordedResult,
  type Run,
  type RunId,
  boundResult,
  toFailedResult,
  type AwaitedChild,
  type CallId,
  type NewFact,
  type ToolCall,
  toChildRunId,
  type RunSettings,
} from '@rondo/contract';
import { type LoopContext, type Step, toFactsStep } from '../loop-context';
import { openCalls } from '../run/ledger';
import { answerCall, type AnswerContext } from '../tool-calls/answer-call';
import type { StoppedChild } from '../ports';
import { startsRun } from '../tool-calls/start-call';

/** How a child run ended; `deleted`: its thread was deleted before its result was read. */
export interface ChildEnd {
  readonly runId: RunId;
  readonly status: Extract<Run['status'], 'completed' | 'failed' | 'stopped'> | 'deleted';
  /** Its answer, as `GET /v1/runs/{id}/result` shows it. */
  readonly text: string;
  /** Why it did not do what it was asked for. Null: it did. */
  readonly problem: string | null;
  readonly durationMs: number;
}

/** What the model of the parent reads. Only a run that completed, within its limits, is a success. */
export function resultOfChild({ runId, status, text, problem }: ChildEnd): RecordedResult {
  if (status === 'completed' && problem === null) return boundResult({ success: true, output: text });
  return boundResult({
    ...toFailedResult(`${runId} ${endings[status]}${problem === null ? '.' : `: ${problem}`}`),
    output: text,
  });
}

const endings: Record<ChildEnd['status'], string> = {
  completed: 'ended without success',
  failed: 'failed',
  stopped: 'was stopped',
  deleted: 'was deleted with its thread before its result was read',
};

/** The child runs of the open calls. */
export const listAwaitedChildren = ({ state, childRuns }: Pick<LoopContext, 'state' | 'childRuns'>): AwaitedChild[] =>
  openCalls(state).flatMap(({ call }) => childRuns.get(call.id) ?? []);

/** Parks the run until these runs are over. */
export const waitForChildren = (iteration: number, children: readonly AwaitedChild[]): NewFact => ({
  type: 'run.waiting',
  iteration,
  data: { reason: 'child_runs', child_runs: [...children] },
});

/**
 * The facts with which a parked run learns of the child runs that are over: an answer to each of their calls, and then that
 * the run waits for the others, or goes on. None if none is over. A call that has an answer gets no second one.
 */
export function collectChildren(
  answering: AnswerContext,
  awaited: readonly AwaitedChild[],
  ends: ReadonlyMap<CallId, ChildEnd>,
): NewFact[] {
  const open = openCalls(answering.state);
  const answers = open.flatMap(({ call }): NewFact[] => {
    const end = ends.get(call.id);
    if (!end) return [];
    return answerCall(answering, call, { result: resultOfChild(end), durationMs: end.durationMs });
  });
  if (answers.length === 0) return [];

  const { iteration } = answering.state;
  const others = awaited.filter(({ tool_call_id }) => !ends.has(tool_call_id));
  return [
    ...answers,
    others.length > 0
      ? waitForChildren(iteration, others)
      : { type: 'run.resumed', iteration, data: { reason: 'child_runs_ended' } },
  ];
}

/** Starts or finds the run of a call. Resolves to why there is none, if it was refused. */
export async function startChild(loop: LoopContext, call: ToolCall): Promise<string | undefined> {
  const { children } = loop.ports;
  if (!children) return 'This run cannot start other runs.';
  const start = await children.start(call);
  if (start.how === 'refused') return start.reason;
  loop.childRuns.set(call.id, start.child);
  return undefined;
}

/** A run that is stopped, or whose time is over, stops all runs below it first, and answers the calls that started them. */
export async function* stopChildren(loop: LoopContext, withinMs: number): AsyncGenerator<Step, void> {
  const { signals, ports, receipt } = loop;
  if (!signals.stop.aborted || !ports.children || loop.state.ended) return;
  const open = openCalls(loop.state).filter(({ call, attempts }) => attempts > 0 && startsRun(loop, call));
  if (open.length === 0) return;

  const stoppedChildren = await ports.children.stopAll(withinMs);
  receipt.childrenStopped(stoppedChildren);
  for (const { call } of open) {
    const result = toFailedResult(toEnd(call, stoppedChildren));
    yield toFactsStep(loop, answerCall(loop, call, { result, durationMs: 0 }), { hold: true });
  }
}

function toEnd(call: ToolCall, stoppedChildren: readonly StoppedChild[]): string {
  const child = stoppedChildren.find(({ run_id }) => run_id === toChildRunId(call.id));
  if (!child) return 'The run was stopped before this call started another run, or after that one had ended.';
  const end = child.ended_at === null ? 'its end was not seen in time' : `it ended at ${child.ended_at}`;
  return `The run was stopped, and ${child.run_id} with it; ${end}.`;
}

/** Where a run stands in its tree, and what is below it. */
export interface TreePlace {
  /** 0 for the first run of the tree. */
  readonly depth: number;
  /** All runs below the first one, also those that are over. */
  readonly treeRuns: number;
  /** Its child runs that are not over. */
  readonly activeChildren: number;
}

type Limits = RunSettings['limits'];

/** Why the run may not start another one; undefined if it may. `root` are the limits of the first run of the tree. */
export function treeRefusal({ root, own }: { root: Limits; own: Limits }, place: TreePlace): string | undefined {
  const { max_run_depth: depth = 3, max_tree_runs: runs = 50 } = root;
  const { max_active_children: children = 10 } = own;
  if (place.depth >= depth)
    return `Runs may be nested ${depth} deep, and this one is at that depth: do the task yourself.`;
  if (place.treeRuns >= runs) return `All runs of this task may start ${runs} others together, and they have.`;
  if (place.activeChildren >= children)
    return `This run may have ${children} other runs at work at the same time, and it has. Call again when one has answered.`;
  return undefined;
}
