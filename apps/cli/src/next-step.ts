import type { Waiting } from '@rondo/client';

/** The command with which a person helps a run that waits. */
export function nextStep(runId: string, waiting: Waiting | null | undefined): string {
  if (waiting?.reason === 'approval') return `rondo approve ${runId} · rondo deny ${runId} --reason "…"`;
  if (waiting?.reason === 'tool_unknown')
    return `rondo resolve ${waiting.question?.tool_call_id ?? 'CALL'} completed|not_applied|retry`;
  if (waiting?.reason === 'caller_tools') return `rondo watch ${runId}`;
  return `rondo answer ${runId} "…"`;
}
