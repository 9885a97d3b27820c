import { type Command, UsageError } from '../command';

/** How a user of another system's client begins with Rondo. */
interface FacadeProgram {
  /** The beginning of the paths of the façade. */
  readonly path: string;
  /** The npm packages of the client. */
  readonly packages: readonly string[];
  /** About ten lines, which read the URL and the key of Rondo from the environment. */
  readonly program: string;
}

/** By the names of the pages in `docs/facades/`, which begin with the programs. */
const programs: Readonly<Record<string, FacadeProgram>> = {
  a2a: {
    path: '/a2a',
    packages: ['@a2a-js/sdk'],
    program: `import { ClientFactory, JsonRpcTransportFactory } from '@a2a-js/sdk/client';

const headers = { Authorization: \`Bearer \${process.env.RONDO_API_KEY}\` };
const fetchImpl = (url, init) => fetch(url, { ...init, headers: { ...init?.headers, ...headers } });
const transports = [new JsonRpcTransportFactory({ fetchImpl })];
const factory = new ClientFactory({ transports });
const client = await factory.createFromUrl(\`\${process.env.RONDO_URL}/a2a/demo%2Fcoder/\`);
const parts = [{ content: { $case: 'text', value: 'Write a small program and run it.' } }];
const message = { messageId: crypto.randomUUID(), role: 1, parts };
for await (const { payload } of client.sendMessageStream({ message })) console.log(payload.$case, payload.value);`,
  },
  'ag-ui': {
    path: '/ag-ui',
    packages: ['@ag-ui/client'],
    program: `import { HttpAgent } from '@ag-ui/client';

const agent = new HttpAgent({
  url: \`\${process.env.RONDO_URL}/ag-ui\`,
  headers: { Authorization: \`Bearer \${process.env.RONDO_API_KEY}\` },
});
agent.addMessage({ id: crypto.randomUUID(), role: 'user', content: 'Write a small program and run it.' });
const forwardedProps = { model: 'demo/coder' };
await agent.runAgent({ forwardedProps }, { onEvent: ({ event }) => console.log(event.type) });
console.log(agent.messages.at(-1));`,
  },
  'ai-sdk': {
    path: '/ai-sdk/chat',
    packages: ['ai'],
    program: `import { DefaultChatTransport, readUIMessageStream } from 'ai';

const transport = new DefaultChatTransport({
  api: \`\${process.env.RONDO_URL}/ai-sdk/chat\`,
  headers: { Authorization: \`Bearer \${process.env.RONDO_API_KEY}\` },
  body: { model: 'demo/coder' },
});
const question = { id: '1', role: 'user', parts: [{ type: 'text', text: 'Write a small program and run it.' }] };
const stream = await transport.sendMessages({ chatId: 'chat-1', trigger: 'submit-message', messages: [question] });
for await (const message of readUIMessageStream({ stream })) console.log(message.parts.at(-1));`,
  },
  'claude-managed-agents': {
    path: '/anthropic',
    packages: ['@anthropic-ai/sdk'],
    program: `import Anthropic from '@anthropic-ai/sdk';

const { agents, environments, sessions } = new Anthropic({
  baseURL: \`\${process.env.RONDO_URL}/anthropic\`,
  apiKey: process.env.RONDO_API_KEY,
}).beta;
const tools = [{ type: 'agent_toolset_20260401' }];
const agent = await agents.create({ name: 'Caller', model: 'demo/parallel', tools });
const environment = await environments.create({ name: 'usual' });
const session = await sessions.create({ agent: agent.id, environment_id: environment.id });
const stream = await sessions.events.stream(session.id);
const content = [{ type: 'text', text: 'Run three commands at once.' }];
await sessions.events.send(session.id, { events: [{ type: 'user.message', content }] });
for await (const event of stream) {
  console.log(event.type, event);
  if (event.type === 'session.status_idle') break;
}`,
  },
  'ii-agent': {
    path: '/ii',
    packages: ['ws'],
    program: `import { WebSocket } from 'ws';

const headers = { Authorization: \`Bearer \${process.env.RONDO_API_KEY}\` };
const socket = new WebSocket(\`\${process.env.RONDO_URL}/ii/ws\`, { headers });
const send = (type, content) => socket.send(JSON.stringify({ type, content }));
socket.on('open', () => {
  send('init_agent', { model_name: 'demo/coder' });
  send('query', { text: 'Write a small program and run it.' });
});
socket.on('message', (data) => {
  const { type, content } = JSON.parse(data);
  console.log(type, content);
  if (type === 'stream_complete') socket.close();
});`,
  },
  langgraph: {
    path: '/langgraph',
    packages: ['@langchain/langgraph-sdk', '@langchain/core'],
    program: `import { Client } from '@langchain/langgraph-sdk';

const apiUrl = \`\${process.env.RONDO_URL}/langgraph\`;
const client = new Client({ apiUrl, apiKey: process.env.RONDO_API_KEY });
const { thread_id } = await client.threads.create();
const input = { messages: [{ type: 'human', content: 'Write a small program and run it.' }] };
const stream = client.runs.stream(thread_id, 'demo/coder', { input, streamMode: 'messages-tuple' });
for await (const { event, data } of stream) {
  if (event === 'messages') process.stdout.write(String(data[0].content));
  else console.log(event, data);
}`,
  },
  mcp: {
    path: '/mcp',
    packages: ['@modelcontextprotocol/client'],
    program: `import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const headers = { Authorization: \`Bearer \${process.env.RONDO_API_KEY}\` };
const transport = new StreamableHTTPClientTransport(new URL(\`\${process.env.RONDO_URL}/mcp\`), {
  requestInit: { headers },
});
const client = new Client({ name: 'first', version: '1' }, { versionNegotiation: { mode: 'auto' } });
await client.connect(transport);
const call = { input: 'Write a small program and run it.', model: 'demo/coder' };
const onprogress = ({ message }) => console.log(message);
const { structuredContent } = await client.callTool({ name: 'run_agent', arguments: call }, { onprogress });
console.log(structuredContent);
await client.close();`,
  },
  openai: {
    path: '/openai/v1',
    packages: ['openai'],
    program: `import OpenAI from 'openai';

const openai = new OpenAI({
  baseURL: \`\${process.env.RONDO_URL}/openai/v1\`,
  apiKey: process.env.RONDO_API_KEY,
});
const stream = openai.responses.stream({ model: 'demo/coder', input: 'Write a small program and run it.' });
stream.on('response.output_text.delta', ({ delta }) => process.stdout.write(delta));
const { id, status } = await stream.finalResponse();
console.log(\`\\n\${id} \${status}\`);`,
  },
  suna: {
    path: '/suna/api',
    packages: [],
    program: `const api = \`\${process.env.RONDO_URL}/suna/api\`;
const headers = { Authorization: \`Bearer \${process.env.RONDO_API_KEY}\` };
const body = new FormData();
body.append('prompt', 'Write a small program and run it.');
body.append('model_name', 'demo/coder');
const begun = await fetch(\`\${api}/agent/initiate\`, { method: 'POST', headers, body });
const { agent_run_id } = await begun.json();
const stream = await fetch(\`\${api}/agent-run/\${agent_run_id}/stream\`, { headers });
for await (const lines of stream.body.pipeThrough(new TextDecoderStream())) process.stdout.write(lines);`,
  },
};

const names = Object.keys(programs).join(', ');

/** The program with the URL and the key in the places where it reads them from the environment. */
const fillIn = (program: string, { url, key }: { readonly url: string; readonly key: string }): string =>
  program
    .replaceAll('${process.env.RONDO_URL}', () => url)
    .replaceAll('${process.env.RONDO_API_KEY}', () => key)
    .replaceAll('process.env.RONDO_URL', () => `'${url}'`)
    .replaceAll('process.env.RONDO_API_KEY', () => `'${key}'`);

export const facade: Command = {
  name: 'facade',
  summary: 'Print a program for the client of another system, with the URL and the key filled in',
  args: [{ name: 'NAME' }],
  options: [{ name: 'no-key', help: 'a program that reads RONDO_URL and RONDO_API_KEY from the environment' }],
  details: `NAME is one of: ${names}. Without --no-key the program has the key in it: it is a secret as that is.`,
  run(given, { terminal, url, key }) {
    const [name = ''] = given.args;
    const known = Object.hasOwn(programs, name) ? programs[name] : undefined;
    if (!known) throw new UsageError(`There is no façade ${name}. There are: ${names}.`);
    const program = given.has('no-key') ? known.program : fillIn(known.program, { url, key: key() });
    if (terminal.isJson) terminal.json({ name, url: url + known.path, packages: known.packages, program });
    else terminal.line(program);
    return Promise.resolve('ok');
  },
};
