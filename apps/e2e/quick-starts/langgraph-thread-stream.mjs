import { Client } from '@langchain/langgraph-sdk';

const client = new Client({ apiUrl: process.env.LANGGRAPH_API_URL });
const thread = client.threads.stream({ assistantId: 'my-agent' });
await thread.run.start({ input: { messages: [{ role: 'user', content: 'Hello, graph.' }] } });
for await (const message of thread.messages) {
  for await (const token of message.text) process.stdout.write(token);
}
const { messages } = await thread.output;
console.log(`\n${messages.length} messages`);
await thread.close();
