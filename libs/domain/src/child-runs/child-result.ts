import { type RecordedResult, type Run, type RunId, boundedResult, failedResult } from '@rondo/contract';

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
  if (status === 'completed' && problem === null) return boundedResult({ success: true, output: text });
  return boundedResult({
    ...failedResult(`${runId} ${endings[status]}${problem === null ? '.' : `: ${problem}`}`),
    output: text,
  });
}

const endings: Record<ChildEnd['status'], string> = {
  completed: 'ended without success',
  failed: 'failed',
  stopped: 'was stopped',
  deleted: 'was deleted with its thread before its result was read',
};
