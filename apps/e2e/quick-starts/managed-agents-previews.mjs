import Anthropic from '@anthropic-ai/sdk';
import { accumulateManagedAgentsEvent } from '@anthropic-ai/sdk/lib/sessions/accumulate';

const client = new Anthropic();
const environment = await client.beta.environments.create({ name: 'previews' });
const agent = await client.beta.agents.create({ name: 'Narrator', model: 'claude-opus-4-8' });
const session = await client.beta.sessions.create({
  environment_id: environment.id,
  agent: { type: 'agent', id: agent.id },
});

const stream = await client.beta.sessions.events.stream(session.id, { event_deltas: ['agent.message'] });
const content = [{ type: 'text', text: 'Tell a long story.' }];
await client.beta.sessions.events.send(session.id, { events: [{ type: 'user.message', content }] });

const previews = new Map();
const toId = (event) => (event.type === 'event_delta' ? event.event_id : (event.event ?? event).id);
for await (const event of stream) {
  const id = toId(event);
  const preview = accumulateManagedAgentsEvent(previews.get(id), event);
  if (preview) previews.set(id, preview);
  if (event.type === 'agent.message') console.log(event.content.map(({ text }) => text).join(''));
  if (event.type === 'session.status_idle') break;
}
