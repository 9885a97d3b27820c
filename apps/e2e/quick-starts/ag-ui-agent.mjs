import { HttpAgent } from '@ag-ui/client';

const agent = new HttpAgent({
  url: process.env.AG_UI_URL,
  headers: { Authorization: `Bearer ${process.env.AG_UI_KEY}` },
  threadId: crypto.randomUUID(),
});
agent.addMessage({ id: crypto.randomUUID(), role: 'user', content: 'Hello, agent.' });
const { newMessages } = await agent.runAgent(
  {},
  {
    onTextMessageStartEvent: () => console.log('Assistant:'),
    onTextMessageContentEvent: ({ event }) => process.stdout.write(event.delta),
    onTextMessageEndEvent: () => console.log(),
    onToolCallStartEvent: ({ event }) => console.log(`Tool: ${event.toolCallName}`),
  },
);
console.log(newMessages.length);
