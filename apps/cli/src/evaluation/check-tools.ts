import type { Agent } from '@rondo/client';
import type { Context, Given } from '../command';
import { missingToolLines, missingTools } from './missing-tools';

/**
 * Whether an evaluation may begin. An agent that names a tool counts on it, so one that the deployment lacks ends the command before
 * anything is asked; `--skip-missing-tools` runs without it. What a profile offers besides is only mentioned.
 */
export async function hasItsTools(
  agent: Agent | undefined,
  given: Given,
  { rondo, terminal }: Context,
): Promise<boolean> {
  const lines = missingToolLines(await missingTools(rondo(), agent, given.value('profile') ?? 'suna'));
  if (lines.length === 0) return true;
  if (agent && !given.has('skip-missing-tools')) {
    terminal.complain(`This deployment lacks tools that the agent ${agent.definition.name} names:`);
    for (const line of lines) terminal.complain(line);
    terminal.complain('Give the deployment what is missing, or run without these tools: --skip-missing-tools');
    return false;
  }
  terminal.note(`Not in this deployment: ${lines.join(' ')}`);
  return true;
}
