import { plannedEffects } from './planned-effects';
import { type LaunchedRun, settle } from './run-work';
import type { Stage } from './stage';

const questionsAtMost = 20;

/** Answers what a run asks about unknown calls, until it asks no more: applied or not is what the effect server's books say. */
export async function resolveAsAsked(stage: Stage, run: LaunchedRun, withinMs: number): Promise<void> {
  for (let asked = 0; asked < questionsAtMost && run.settled?.status === 'waiting_input'; asked += 1) {
    const facts = await stage.client.facts(run.id);
    const question = facts.findLast(({ type }) => type === 'run.waiting')?.data.question as { tool_call_id: string };
    const effect = plannedEffects(facts).find(({ callId }) => callId === question.tool_call_id);
    const happened = (stage.effects.ledger.applied().get(effect?.tag ?? '') ?? 0) > 0;
    await stage.client.ask({
      method: 'POST',
      path: `/tool-calls/${question.tool_call_id}/resolve`,
      body: happened ? { outcome: 'completed', output: 'The books say that it was done.' } : { outcome: 'not_applied' },
    });
    stage.tally.ended -= 1;
    await settle(stage, run, withinMs);
  }
}
