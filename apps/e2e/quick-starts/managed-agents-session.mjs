import Anthropic from '@anthropic-ai/sdk';

const client = new Anthropic();
const agent = await client.beta.agents.create({
  name: 'Programmer',
  model: { id: 'claude-opus-4-8' },
  system: 'You write programs that are short and clear.',
  tools: [{ type: 'agent_toolset_20260401' }],
});
const environment = await client.beta.environments.create({
  name: 'programs',
  config: { type: 'cloud', networking: { type: 'unrestricted' } },
});
const session = await client.beta.sessions.create({
  agent: agent.id,
  environment_id: environment.id,
  title: 'First session',
});

const stream = await client.beta.sessions.events.stream(session.id);
const content = [{ type: 'text', text: 'Which files are there?' }];
await client.beta.sessions.events.send(session.id, { events: [{ type: 'user.message', content }] });
for await (const event of stream) {
  if (event.type === 'agent.message') for (const block of event.content) console.log(block.text);
  if (event.type === 'agent.tool_use') console.log(`Tool: ${event.name}`);
  if (event.type === 'session.status_idle') break;
}
console.log('The agent is idle.');
