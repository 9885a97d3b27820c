import { z } from 'zod';
import { callId, runId } from './ids';
import { awaitedBudget, runStatus } from './run';

/** What a run waits for; each has its own sentence. `none`: the run is over. `tool_queue`: for its account's share of the queue. */
export const waitCause = z.enum([
  'none',
  'thread',
  'queue',
  'takeover',
  'answer',
  'approval',
  'budget',
  'tool_unknown',
  'child_runs',
  'caller_tools',
  'elicitation',
  'stop',
  'tool',
  'tool_queue',
  'model',
  'model_retry',
  'summary',
  'workspace',
  'worker',
]);
export type WaitCause = z.infer<typeof waitCause>;

/** What is done for the workspace of a run, in this order. What it does not need is left out. */
export const preparationStep = z.enum(['image', 'packages', 'sandbox', 'repository', 'files']);
export type PreparationStep = z.infer<typeof preparationStep>;

/** Why a run makes no progress that can be seen, as of one moment. */
export const runWait = z.object({
  run_id: runId,
  at: z.iso.datetime().describe('The moment of which all of this was true.'),
  cause: waitCause,
  sentence: z.string().describe('In English, for people; its wording may change.'),
  since: z.iso.datetime(),
  until: z.iso
    .datetime()
    .optional()
    .describe('`model_retry`: when the next attempt begins. `caller_tools`: when the first of the calls times out.'),
  ahead: z
    .number()
    .int()
    .nonnegative()
    .optional()
    .describe(
      '`queue`: runs of the same account that are due longer. `thread`: runs queued before it. Counted up to 1,000.',
    ),
  behind_run_id: runId.optional().describe('`thread`: the run that is active on the thread.'),
  tool_calls: z
    .array(z.object({ id: callId, name: z.string(), since: z.iso.datetime().nullable() }))
    .readonly()
    .optional()
    .describe(
      '`tool`, `tool_queue`, `stop`: the calls that run or wait, at most 20. `approval`, `tool_unknown`: those that a person decides about. `caller_tools`: those that the caller answers.',
    ),
  budget: awaitedBudget.optional().describe('`budget`: the budget, and what was spent of it.'),
  child_runs: z
    .array(z.object({ run_id: runId, status: runStatus, agent_name: z.string() }))
    .readonly()
    .optional()
    .describe('`child_runs`: the child runs that are not over.'),
  executor_id: z.string().optional().describe("`tool`, `workspace`: the executor that has the thread's sandbox."),
  step: z
    .object({ name: preparationStep, since: z.iso.datetime() })
    .optional()
    .describe('`workspace`: what of it is under way, where its executor says so.'),
});
export type RunWait = z.infer<typeof runWait>;
