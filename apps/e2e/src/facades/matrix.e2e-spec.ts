import { randomUUID } from 'node:crypto';
import { HttpAgent } from '@ag-ui/client';
import Anthropic from '@anthropic-ai/sdk';
import { Client as LangGraph } from '@langchain/langgraph-sdk';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { McpRunOutcome } from '@rondo/contract/api';
import { type RondoClient, call } from '@rondo/test-deployment';
import { DefaultChatTransport, type UIMessage } from 'ai';
import OpenAI from 'openai';
import { FacadeDeployment, about } from './facade-deployment';
import { IiClient, readEvents } from './ii-client';

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
  /** Absent where a run that is begun there has no tool `ask`. */
  begin?(input: string): Promise<Asked>;
  /** The question that the run asks. Absent where a client sees it only as it is asked. */
  read?(asked: Asked): Promise<string>;
  answer(asked: Asked, words: string): Promise<unknown>;
  /** Absent where the protocol has no word for it. */
  stop?(asked: Asked): Promise<unknown>;
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
    '/ii': ofIi(client),
    '/anthropic': ofAnthropic(client),
  };
});

const model = 'demo/scripted';

const ofApi = (client: RondoClient): Facade => ({
  begin: async (input) => {
    const { id } = await client.createRun({ input, model });
    const { thread_id } = await client.json<{ thread_id: string }>('GET', `/runs/${id}`);
    await client.waitForRun(id);
    return { runId: id, threadId: thread_id };
  },
  read: async ({ runId }) => {
    const { waiting } = await client.json<{ waiting: { question: { text: string } } }>('GET', `/runs/${runId}`);
    return waiting.question.text;
  },
  answer: ({ runId }, content) => client.json('POST', `/runs/${runId}/input`, { content }),
  stop: ({ runId }) => client.json('POST', `/runs/${runId}/stop`),
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
    stop: ({ runId }) => use('stop_run', { run_id: runId }),
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
    stop: ({ runId }) => responses.cancel(runId.replace('run_', 'resp_')),
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
    stop: ({ threadId }) =>
      fetch(`${url}/ai-sdk/chat/${threadId}/stop`, { method: 'POST', headers: { Authorization: `Bearer ${key}` } }),
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
    stop: ({ runId: id }) => send('CancelTask', { id }),
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
    stop: ({ runId, threadId }) => runs.cancel(threadId, runId),
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
    stop: ({ runId }) => send(`/agent-run/${runId}/stop`, {}),
  };
};

const ofIi = (client: RondoClient): Facade => {
  const open = async (session: Record<string, string>, act: (socket: IiClient) => Promise<unknown>) => {
    const socket = new IiClient(client, session);
    await socket.next('connection_established');
    await act(socket);
    await socket.close();
  };
  return {
    read: async ({ threadId }) => {
      const last = (await readEvents(client, threadId)).findLast(({ event_type: type }) => type === 'agent_response');
      return String(last?.event_payload.content['text']);
    },
    answer: ({ threadId }, words) => open({ session_uuid: threadId }, (socket) => socket.ask(words, true)),
    stop: ({ threadId }) =>
      open({ session_uuid: threadId }, async (socket) => {
        socket.send('cancel');
        await socket.next('system');
      }),
  };
};

/** A session is a thread, and has its id. */
const ofAnthropic = (client: RondoClient): Facade => {
  const { sessions } = new Anthropic({ baseURL: `${client.url}/anthropic`, apiKey: client.key }).beta;
  const say = (session: string, text: string) =>
    sessions.events.send(session, { events: [{ type: 'user.message', content: [{ type: 'text', text }] }] });
  return {
    read: async ({ threadId }) => {
      let text = '';
      for await (const event of sessions.events.list(threadId))
        if (event.type === 'agent.message')
          text = event.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
      return text;
    },
    answer: ({ threadId }, words) => say(threadId, words),
    stop: ({ threadId }) => sessions.events.send(threadId, { events: [{ type: 'user.interrupt' }] }),
  };
};

const names = [
  '/v1', '/mcp', '/openai/v1', '/ai-sdk/chat', '/ag-ui', '/a2a', '/langgraph', '/suna/api', '/ii', '/anthropic',
]; // prettier-ignore

const find = (name: string): Facade => {
  const facade = facades[name];
  if (!facade) throw new Error(`there is no façade ${name}`);
  return facade;
};

/** A run that asks for a colour, and would then answer. */
function begin(from: string, to: string): Promise<Asked> {
  const turns = [{ calls: [call('ask', { text: 'Which colour?' })] }, { text: 'It is blue.' }];
  const facade = find(from);
  if (!facade.begin) throw new Error(`no run that asks begins at ${from}`);
  return facade.begin(about(`from ${from} to ${to}`, turns));
}

/** The run when it is over. */
async function readEnd({ runId }: Asked): Promise<McpRunOutcome> {
  const { structuredContent } = await mcp.callTool({ name: 'get_run', arguments: { run_id: runId, wait_s: 60 } });
  return structuredContent as McpRunOutcome;
}

const asking = names.filter((name) => !['/ii', '/anthropic'].includes(name));

describe.each(asking)('a run that was begun at %s', (from) => {
  it.each(names)('is read and answered at %s', async (to) => {
    const asked = await begin(from, to);
    expect((await find(to).read?.(asked)) ?? 'Which colour?').toBe('Which colour?');
    await find(to).answer(asked, 'Blue.');
    expect(await readEnd(asked)).toMatchObject({ status: 'completed', text: 'It is blue.' });
  });

  it.each(names.filter((name) => name !== '/ag-ui'))('is stopped at %s', async (to) => {
    const asked = await begin(from, to);
    await find(to).stop?.(asked);
    expect(await readEnd(asked)).toMatchObject({ status: 'stopped' });
  });
});
