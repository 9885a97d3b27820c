import type { Agent, Rondo, Tool } from '@rondo/client';
import type { Context, Given } from '../command';

type ToolSettings = Agent['definition']['tools'];

/** Those that a definition names, by themselves or by their group. */
function isNamed({ name, group }: Tool, settings: ToolSettings): boolean {
  if (settings === undefined) return false;
  if (Array.isArray(settings)) return settings.includes(name);
  const change = settings[name] ?? settings[group];
  return typeof change === 'object' ? change.enabled === true : change === true;
}

const missing = async (rondo: Rondo, isWanted: (tool: Tool) => boolean): Promise<Tool[]> => {
  const found: Tool[] = [];
  for await (const tool of rondo.tools()) if (!tool.available && isWanted(tool)) found.push(tool);
  return found;
};

/** Tools that an agent names and that the deployment cannot run. Without an agent: those of the profile. */
export const missingTools = (rondo: Rondo, agent: Agent | undefined, profile: string): Promise<Tool[]> =>
  missing(rondo, (tool) =>
    agent ? isNamed(tool, agent.definition.tools) : (tool.default_in as readonly string[]).includes(profile),
  );

/** A line for each reason. It names the settings that an operator can change. */
export function missingToolLines(tools: readonly Tool[]): string[] {
  const reasons = [...new Set(tools.map(({ reason }) => reason))];
  return reasons.map((reason) => {
    const names = tools.filter((tool) => tool.reason === reason).map(({ name }) => name);
    return `${names.join(', ')}: ${reason}`;
  });
}

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
