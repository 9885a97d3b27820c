import { type ToolCall, toChildRunId, failedResult } from '@rondo/contract';
import { type LoopContext, type Step, toFactsStep } from '../loop-context';
import type { StoppedChild } from '../ports';
import { openCalls } from '../run/ledger';
import { answerCall } from '../tool-calls/answer-call';
import { startsRun } from '../tool-calls/start-call';

/** A run that is stopped, or whose time is over, stops all runs below it first, and answers the calls that started them. */
export async function* stopChildren(loop: LoopContext, withinMs: number): AsyncGenerator<Step, void> {
  const { signals, ports, receipt } = loop;
  if (!signals.stop.aborted || !ports.children || loop.state.ended) return;
  const open = openCalls(loop.state).filter(({ call, attempts }) => attempts > 0 && startsRun(loop, call));
  if (open.length === 0) return;

  const stopped = await ports.children.stopAll(withinMs);
  receipt.childrenStopped(stopped);
  for (const { call } of open) {
    const result = failedResult(toEnd(call, stopped));
    yield toFactsStep(loop, answerCall(loop, call, { result, durationMs: 0 }), { hold: true });
  }
}

function toEnd(call: ToolCall, stopped: readonly StoppedChild[]): string {
  const child = stopped.find(({ run_id }) => run_id === toChildRunId(call.id));
  if (!child) return 'The run was stopped before this call started another run, or after that one had ended.';
  const end = child.ended_at === null ? 'its end was not seen in time' : `it ended at ${child.ended_at}`;
  return `The run was stopped, and ${child.run_id} with it; ${end}.`;
}
