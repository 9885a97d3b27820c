import type { Run, Waiting } from '@rondo/client';

/** The command with which a person helps a run that waits. */
export function nextStep(
  runId: string,
  waiting: Pick<Waiting, 'reason' | 'question' | 'budget'> | null | undefined,
): string {
  if (waiting?.reason === 'approval') return `rondo approve ${runId} · rondo deny ${runId} --reason "…"`;
  if (waiting?.reason === 'tool_unknown')
    return `rondo resolve ${waiting.question?.tool_call_id ?? 'CALL'} completed|not_applied|retry`;
  if (waiting?.reason === 'elicitation')
    return `rondo answer ${runId} --accept '{…}' · rondo answer ${runId} --decline`;
  if (waiting?.reason === 'budget') return raiseStep(runId, waiting.budget);
  if (waiting?.reason === 'caller_tools') return `rondo watch ${runId}`;
  return `rondo answer ${runId} "…"`;
}

/** The budget is raised in the units that it has. */
export function raiseStep(runId: string, budget: Waiting['budget']): string {
  const units = (['usd', 'tokens'] as const).filter((unit) => budget?.[unit] != null);
  return ['rondo budget raise', budget?.root_run_id ?? runId, ...units.map((unit) => `--${unit} …`)].join(' ');
}

/** The codes of a model that its provider does not have, or cannot use so. */
const wrongModel: readonly string[] = ['not_found', 'model_not_supported'];

/** The command that helps after the end of a run; undefined where none does. */
export function findRemedy({ error, steers }: Pick<Run, 'error' | 'steers'>): string | undefined {
  if (steers?.is_read === true) return `rondo watch ${steers.run_id}`;
  return error && wrongModel.includes(error.code) ? 'rondo models ls' : undefined;
}
