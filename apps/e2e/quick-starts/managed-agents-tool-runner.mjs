import Anthropic from '@anthropic-ai/sdk';
import { betaZodTool } from '@anthropic-ai/sdk/helpers/beta/zod';
import { z } from 'zod';

const client = new Anthropic();
const description = 'Tells the time.';
const currentTime = betaZodTool({
  name: 'current_time',
  description,
  inputSchema: z.object({}),
  run: async () => 'It is midnight.',
});
const agent = await client.beta.agents.create({
  name: 'Timekeeper',
  model: 'claude-opus-4-8',
  tools: [
    { type: 'agent_toolset_20260401' },
    { type: 'custom', name: 'current_time', description, input_schema: { type: 'object', properties: {} } },
  ],
});
const environment = await client.beta.environments.create({ name: 'clocks' });
const session = await client.beta.sessions.create({ agent: agent.id, environment_id: environment.id });
const content = [{ type: 'text', text: 'How late is it?' }];
await client.beta.sessions.events.send(session.id, { events: [{ type: 'user.message', content }] });

const calls = client.beta.sessions.events.toolRunner(session.id, { tools: [currentTime], maxIdleMs: 1_000 });
for await (const call of calls) console.log(call.name, call.isError ? 'failed' : 'answered');
await client.beta.sessions.delete(session.id);
await client.beta.agents.archive(agent.id);
