import { Client } from '@langchain/langgraph-sdk';

const client = new Client({ apiUrl: process.env.LANGGRAPH_API_URL });
const [assistant] = await client.assistants.search({ metadata: null, offset: 0, limit: 10 });
const thread = await client.threads.create();
const input = { messages: [{ role: 'human', content: 'How is the weather today?' }] };
for await (const { event, data } of client.runs.stream(thread.thread_id, assistant.assistant_id, { input })) {
  console.log(event, data.messages?.at(-1).content);
}
