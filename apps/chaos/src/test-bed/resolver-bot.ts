import { plannedEffects } from './planned-effects';
import { type LaunchedRun, settle } from './start-runs';
import type { TestBed } from './test-bed';

const questionsAtMost = 20;

/** Resolves a run's unknown calls until it asks no more; the effect server's ledger says whether each was applied. */
export async function resolveAsAsked(testBed: TestBed, run: LaunchedRun, withinMs: number): Promise<void> {
  for (let asked = 0; asked < questionsAtMost && run.settled?.status === 'waiting_input'; asked += 1) {
    const facts = await testBed.client.facts(run.id);
    const callId = facts.findLast((fact) => fact.type === 'run.waiting')?.data.question?.tool_call_id ?? '';
    const effect = plannedEffects(facts).find((planned) => planned.callId === callId);
    const happened = (testBed.effects.ledger.applied().get(effect?.tag ?? '') ?? 0) > 0;
    await testBed.client.runs.resolve(
      callId,
      happened ? { outcome: 'completed', output: 'The ledger says that it was done.' } : { outcome: 'not_applied' },
    );
    testBed.progress.ended -= 1;
    await settle(testBed, run, withinMs);
  }
}
