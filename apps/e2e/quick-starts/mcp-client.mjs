import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const client = new Client({ name: 'my-client', version: '1.0.0' });
const headers = { Authorization: `Bearer ${process.env.MCP_KEY}` };
await client.connect(new StreamableHTTPClientTransport(new URL(process.env.MCP_URL), { requestInit: { headers } }));

const { tools } = await client.listTools();
console.log(tools.map(({ name }) => name).join(', '));
const result = await client.callTool({
  name: 'run_agent',
  arguments: { agent: 'my-agent', input: 'Hello, tool.' },
});
console.log(result.structuredContent.text);
await client.close();
