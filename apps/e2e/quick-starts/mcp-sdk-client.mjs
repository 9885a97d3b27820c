import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const client = new Client({ name: 'my-client', version: '1.0.0' });
const headers = { Authorization: `Bearer ${process.env.MCP_KEY}` };
await client.connect(new StreamableHTTPClientTransport(new URL(process.env.MCP_URL), { requestInit: { headers } }));

const { tools } = await client.listTools();
console.log(tools.map(({ name }) => name).join(', '));
const prompts = await client.listPrompts().catch(({ code }) => `none: ${code}`);
console.log('prompts', prompts);
const result = await client.callTool({
  name: 'run_agent',
  arguments: { agent: 'my-agent', input: 'Hello, first tool.' },
});
console.log(result.content[0].text);
await client.close();
