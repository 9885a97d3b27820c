import { type CallId, type ToolCall, toChildRunId } from '@rondo/contract';
import type { ChildEnd } from '../child-runs/child-runs';
import type { ChildRuns, ChildStart, StoppedChild } from '../ports';

/** Child runs that a test ends. `started` counts how often each call has made a run, which must be once. */
export class InMemoryChildRuns implements ChildRuns {
  readonly started = new Map<CallId, number>();
  readonly ends = new Map<CallId, ChildEnd>();
  /** Times that `start` was asked for a run, also for one that it has made. */
  asked = 0;
  refusal: string | undefined;

  start({ id }: ToolCall): Promise<ChildStart> {
    this.asked += 1;
    if (this.refusal !== undefined) return Promise.resolve({ how: 'refused', reason: this.refusal });
    if (!this.started.has(id)) this.started.set(id, 1);
    const child = { run_id: toChildRunId(id), tool_call_id: id, agent_id: null, agent_name: 'helper' };
    return Promise.resolve({ how: 'started', child });
  }

  stopAll(): Promise<readonly StoppedChild[]> {
    const open = [...this.started.keys()].filter((id) => !this.ends.has(id));
    for (const id of open) this.end(id, { status: 'stopped', problem: 'its parent was stopped' });
    return Promise.resolve(open.map((id) => ({ run_id: toChildRunId(id), ended_at: '2026-01-01T00:00:00.000Z' })));
  }

  end(id: CallId, end: Partial<ChildEnd> = {}): void {
    this.ends.set(id, {
      runId: toChildRunId(id),
      status: 'completed',
      text: `answer of ${id}`,
      problem: null,
      durationMs: 5,
      ...end,
    });
  }

  /** The oldest child that is not over. */
  get next(): CallId | undefined {
    return [...this.started.keys()].find((id) => !this.ends.has(id));
  }
}
