import { type RecordedFact, newRun } from '@rondo/contract';
import { type HarnessParts, RunHarness } from '@rondo/domain/testing';
import { type EndedRun, makeRecording } from '../make-recording';
import type { RecordedTask, Recording } from '../recording';

/** The run of a harness as the gateway would have it. */
export function endedRun({ id, settings, log }: Pick<RunHarness, 'id' | 'settings' | 'log'>): EndedRun {
  const [first] = log;
  if (!first) throw new Error('the run has no log');
  const begun = newRun({ id, thread_id: first.thread_id, last_seq: 0, settings, metadata: {}, created_at: first.at });
  return { run: { ...begun, status: statusAfter(log) }, agent: null, earlier: [], facts: log };
}

const statusAfter = (log: readonly RecordedFact[]): EndedRun['run']['status'] => {
  const last = log.at(-1)?.type;
  return last === 'run.completed' ? 'completed' : last === 'run.failed' ? 'failed' : 'running';
};

/** The recording of a run that a harness carries to its end. */
export async function recordedRun(parts: HarnessParts, task: RecordedTask | null = null): Promise<Recording> {
  const harness = new RunHarness(parts);
  await harness.runOn();
  return makeRecording(endedRun(harness), task);
}
