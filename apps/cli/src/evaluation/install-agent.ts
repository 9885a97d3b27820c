import { type Context, type Given, UsageError } from '../command';
import type { Ending } from '../exit-codes';
import { gaiaAgent } from './gaia-agent';
import { missingToolLines, missingTools } from './missing-tools';

/** Stores an agent that comes with this program, and says which of its tools the deployment lacks. */
export async function installAgent(given: Given, { rondo, terminal }: Context): Promise<Ending> {
  const name = given.args[0];
  if (name !== 'gaia') throw new UsageError(`There is an agent gaia, and none called ${name ?? ''}.`);
  const model = given.value('model');
  const definition = { ...gaiaAgent, ...(model !== undefined && { model }) };
  const agent = await rondo().agents.apply(name, { definition });
  const tools = await missingTools(rondo(), agent, gaiaAgent.profile);
  if (terminal.isJson) {
    terminal.json({ ...agent, missing_tools: tools.map(({ name: tool, reason }) => ({ name: tool, reason })) });
    return 'ok';
  }
  terminal.line(`${agent.id} ${name} version ${agent.version}`);
  if (tools.length > 0) terminal.note('This deployment lacks what some of its tools need:', 'yellow');
  for (const line of missingToolLines(tools)) terminal.note(`  ${line}`, 'yellow');
  return 'ok';
}
