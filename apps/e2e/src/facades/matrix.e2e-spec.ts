import { randomUUID } from 'node:crypto';
import { HttpAgent } from '@ag-ui/client';
import { Client as LangGraph } from '@langchain/langgraph-sdk';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { McpRunOutcome } from '@rondo/contract/api';
import { type RondoClient, call } from '@rondo/test-deployment';
import { DefaultChatTransport, type UIMessage } from 'ai';
import OpenAI from 'openai';
import { FacadeDeployment, about } from './facade-deployment';

/** A run that waits for the answer to its question. */
interface Asked {
  readonly runId: string;
  readonly threadId: string;
}

/** A task as A2A has it in JSON. */
interface A2aTask {
  readonly status: { readonly message?: { readonly parts: readonly { readonly text: string }[] } };
  readonly metadata: { readonly rondo: { readonly run_id: string; readonly thread_id: string } };
}

/** What a user of one façade does with a run that was begun there or elsewhere. */
interface Facade {
  begin(input: string): Promise<Asked>;
  /** The question that the run asks. Absent where a client sees it only as it is asked. */
  read?(asked: Asked): Promise<string>;
  answer(asked: Asked, words: string): Promise<unknown>;
}

afterAll(async () => {
  await mcp.close();
});
const deployment = FacadeDeployment.forSuite();
let facades: Readonly<Record<string, Facade>>;
let mcp: Client;
beforeAll(async () => {
  const { client } = deployment;
  const headers = { Authorization: `Bearer ${client.key}` };
  mcp = new Client({ name: 'matrix', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  await mcp.connect(new StreamableHTTPClientTransport(new URL(`${client.url}/mcp`), { requestInit: { headers } }));
  facades = {
    '/v1': ofApi(client),
    '/mcp': ofMcp(mcp),
    '/openai/v1': ofOpenAi(client),
    '/ai-sdk/chat': ofAiSdk(client),
    '/ag-ui': ofAgUi(client),
    '/a2a': ofA2a(client),
    '/langgraph': ofLangGraph(client),
    '/suna/api': ofSuna(client),
  };
});

const model = 'demo/scripted';

const ofApi = (client: RondoClient): Facade => ({
  begin: async (input) => {
    const { id } = await client.createRun({ input, model });
    const { thread_id } = await client.json<{ thread_id: string }>('GET', `/runs/${id}`);
    await client.settled(id);
    return { runId: id, threadId: thread_id };
  },
  read: async ({ runId }) => {
    const { waiting } = await client.json<{ waiting: { question: { text: string } } }>('GET', `/runs/${runId}`);
    return waiting.question.text;
  },
  answer: ({ runId }, content) => client.json('POST', `/runs/${runId}/input`, { content }),
});

const ofMcp = (client: Client): Facade => {
  const use = async (name: string, args: Record<string, unknown>) =>
    (await client.callTool({ name, arguments: args })).structuredContent as McpRunOutcome;
  return {
    begin: async (input) => {
      const { run_id, thread_id } = await use('run_agent', { input, model });
      return { runId: run_id, threadId: thread_id };
    },
    read: async ({ runId }) => (await use('get_run', { run_id: runId })).question ?? '',
    answer: ({ runId }, answer) => use('answer_run', { run_id: runId, answer }),
  };
};

const ofOpenAi = ({ url, key }: RondoClient): Facade => {
  const { responses } = new OpenAI({ baseURL: `${url}/openai/v1`, apiKey: key });
  return {
    begin: async (input) => {
      const { id, conversation } = await responses.create({ model, input });
      return { runId: id.replace('resp_', 'run_'), threadId: conversation?.id.replace('conv_', 'thr_') ?? '' };
    },
    read: async ({ runId }) => (await responses.retrieve(runId.replace('run_', 'resp_'))).output_text,
    answer: ({ runId }, input) =>
      responses.create({ model, input, previous_response_id: runId.replace('run_', 'resp_'), background: true }),
  };
};

const ofAiSdk = ({ url, key }: RondoClient): Facade => {
  const transport = new DefaultChatTransport<UIMessage>({
    api: `${url}/ai-sdk/chat`,
    headers: { Authorization: `Bearer ${key}` },
    body: { model },
  });
  let sent = 0;
  const say = async (chatId: string, text: string): Promise<Asked> => {
    const message = { id: `question-${(sent += 1)}`, role: 'user' as const, parts: [{ type: 'text' as const, text }] };
    const options = { chatId, messageId: undefined, abortSignal: undefined, messages: [message] };
    const stream = await transport.sendMessages({ trigger: 'submit-message', ...options });
    let asked = { runId: '', threadId: '' };
    for await (const chunk of stream)
      if (chunk.type === 'start' && chunk.messageMetadata) {
        const { run_id: runId, thread_id: threadId } = chunk.messageMetadata as { run_id: string; thread_id: string };
        asked = { runId, threadId };
      }
    return asked;
  };
  return {
    begin: (input) => say(`chat-${(sent += 1)}`, input),
    answer: ({ threadId }, words) => say(threadId, words),
  };
};

const ofA2a = ({ url, key }: RondoClient): Facade => {
  const send = async (method: string, params: object): Promise<A2aTask> => {
    const response = await fetch(`${url}/a2a/${encodeURIComponent(model)}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json', 'A2A-Version': '1.0' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    const { result } = (await response.json()) as { result: A2aTask & { task?: A2aTask } };
    return result.task ?? result;
  };
  const say = (text: string, given: object = {}) =>
    send('SendMessage', { message: { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text }], ...given } });
  return {
    begin: async (input) => {
      const { run_id: runId, thread_id: threadId } = (await say(input)).metadata.rondo;
      return { runId, threadId };
    },
    read: async ({ runId: id }) => (await send('GetTask', { id })).status.message?.parts[0]?.text ?? '',
    answer: ({ runId: taskId }, words) => say(words, { taskId }),
  };
};

const ofAgUi = ({ url, key }: RondoClient): Facade => {
  const run = async (threadId: string, content: string): Promise<Asked> => {
    const headers = { Authorization: `Bearer ${key}` };
    const agent = new HttpAgent({ url: `${url}/ag-ui/${encodeURIComponent(model)}`, headers, threadId });
    agent.addMessage({ id: randomUUID(), role: 'user', content });
    let asked = { runId: '', threadId: '' };
    await agent.runAgent(
      {},
      {
        onRunStartedEvent: ({ event }) => {
          const { rondo } = event.metadata as { rondo: { run_id: string; thread_id: string } };
          asked = { runId: rondo.run_id, threadId: rondo.thread_id };
        },
      },
    );
    return asked;
  };
  return {
    begin: (input) => run(randomUUID(), input),
    answer: ({ threadId }, words) => run(threadId, words),
  };
};

/** Runs of threads that the client has not begun have the ids of `/v1`. */
const ofLangGraph = ({ url, key }: RondoClient): Facade => {
  const { threads, runs } = new LangGraph({ apiUrl: `${url}/langgraph`, apiKey: key });
  return {
    begin: async (input) => {
      const { thread_id: threadId } = await threads.create();
      const messages = [{ type: 'human', content: input }];
      await runs.wait(threadId, model, { input: { messages } });
      const [begun] = await runs.list(threadId);
      return { runId: begun?.run_id ?? '', threadId };
    },
    read: async ({ threadId }) => {
      const { tasks } = await threads.getState(threadId);
      return (tasks[0]?.interrupts[0]?.value as { question?: string } | undefined)?.question ?? '';
    },
    answer: ({ threadId }, resume) => runs.wait(threadId, model, { command: { resume } }),
  };
};

const ofSuna = ({ url, key }: RondoClient): Facade => {
  const send = (path: string, body?: object) =>
    fetch(`${url}/suna/api${path}`, {
      method: body ? 'POST' : 'GET',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
  const watch = async (runId: string) => (await send(`/agent-run/${runId}/stream`)).text();
  return {
    begin: async (prompt) => {
      const response = await send('/agent/initiate', { prompt, model_name: model });
      const { agent_run_id: runId, thread_id: threadId } = (await response.json()) as Record<string, string>;
      await watch(runId ?? '');
      return { runId: runId ?? '', threadId: threadId ?? '' };
    },
    read: async ({ runId }) => /Which colour\?/.exec(await watch(runId))?.[0] ?? '',
    answer: ({ threadId }, message) => send(`/threads/${threadId}/messages/add`, { message }),
  };
};

const names = ['/v1', '/mcp', '/openai/v1', '/ai-sdk/chat', '/ag-ui', '/a2a', '/langgraph', '/suna/api'];

describe.each(names)('a run that was begun at %s', (from) => {
  it.each(names)('is read and answered at %s', async (to) => {
    const turns = [{ calls: [call('ask', { text: 'Which colour?' })] }, { text: 'It is blue.' }];
    const asked = await facades[from]?.begin(about(`from ${from} to ${to}`, turns));
    if (!asked) throw new Error(`there is no façade ${from}`);
    expect((await facades[to]?.read?.(asked)) ?? 'Which colour?').toBe('Which colour?');
    await facades[to]?.answer(asked, 'Blue.');
    const { structuredContent } = await mcp.callTool({
      name: 'get_run',
      arguments: { run_id: asked.runId, wait_s: 60 },
    });
    expect(structuredContent).toMatchObject({ status: 'completed', text: 'It is blue.' });
  });
});
