import { textLimits } from '@rondo/contract';
import { z } from 'zod';
import { defineTool } from './define-tool';

/** `idempotent`: the id of the run follows from that of the call, so a call that is sent again finds its run. */
export const runAgentTool = defineTool({
  name: 'run_agent',
  description:
    'Give a task to another stored agent and get its answer. It works in a conversation and a workspace of its own and ' +
    'knows only what you write in `input`. Several calls in one turn run at the same time.',
  input: z.strictObject({
    agent: z.string().min(1).max(200).describe('The name or the id of the agent.'),
    input: z.string().min(1).max(textLimits.block).describe('The task, with everything that the agent must know.'),
    on_waiting: z
      .enum(['wait', 'stop'])
      .default('wait')
      .describe(
        'When the other agent needs a person: wait for that person too, or stop it and be told what it needed.',
      ),
  }),
  effect: 'idempotent',
  runsIn: 'child_run',
  timeoutMs: 1_000,
  group: 'agents',
  example: { agent: 'researcher', input: 'Which of these three libraries is still maintained? …' },
  xml: { attributes: ['agent', 'on_waiting'], content: 'input' },
});
