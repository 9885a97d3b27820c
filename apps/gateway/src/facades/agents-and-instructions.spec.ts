import type { Run } from '@rondo/contract';
import { RunningGateway } from '../testing/running-gateway';

const gateway = RunningGateway.forSuite({ BODY_LIMIT_BYTES: 1_000_000 });

let count = 0;
const newId = (): string => `id-${(count += 1)}`;

/** What a client asks for. Of an agent there is its id. */
interface Asked {
  readonly agent?: string;
  readonly model?: string;
  readonly thread?: string;
  readonly system?: string;
}

interface Request {
  readonly path: string;
  readonly body: object;
}

const user = (content: string) => ({ id: newId(), role: 'user', content });
const system = (content = '') => (content === '' ? [] : [{ id: newId(), role: 'system', content }]);
const toParts = ({ id, role, content }: ReturnType<typeof user>) => ({
  id,
  role,
  parts: [{ type: 'text', text: content }],
});

/** The request of each protocol, and the name that it has for its instructions. */
const facades: Readonly<Record<string, { readonly field: string; readonly write: (asked: Asked) => Request }>> = {
  'AG-UI': {
    field: 'messages',
    write: ({ agent, model, thread = newId(), system: text }) => ({
      path: agent === undefined ? '/ag-ui' : `/ag-ui/${agent}`,
      body: {
        ...{ threadId: thread, runId: newId(), messages: [...system(text), user('Go.')] },
        forwardedProps: { ...(model !== undefined && { model }) },
      },
    }),
  },
  'the AI SDK': {
    field: 'messages',
    write: ({ agent, model, thread: id = newId(), system: text }) => ({
      path: '/ai-sdk/chat',
      body: { id, trigger: 'submit-message', messages: [user('Go.'), ...system(text)].map(toParts), agent, model },
    }),
  },
  LangGraph: {
    field: 'input.messages',
    write: ({ agent, model, thread, system: text }) => ({
      path: thread === undefined ? '/langgraph/runs' : `/langgraph/threads/${thread}/runs`,
      body: { assistant_id: agent ?? model ?? 'rondo', input: { messages: [...system(text), user('Go.')] } },
    }),
  },
  'responses of OpenAI': {
    field: 'instructions',
    write: ({ agent, model, thread, system: instructions }) => ({
      path: '/openai/v1/responses',
      body: {
        ...{ model: agent ?? model, input: 'Go.', instructions, background: true },
        ...(thread !== undefined && { conversation: thread.replace('thr_', 'conv_') }),
      },
    }),
  },
};

const chat = ({ model, system: text }: Asked): Request => ({
  path: '/openai/v1/chat/completions',
  body: { model, stream: true, messages: [...system(text), user('Go.')].map(({ id: _, ...message }) => message) },
});

/** Leaves as soon as there is an answer: the run waits for a worker. */
async function send(key: string, { path, body }: Request): Promise<{ status: number; text?: string }> {
  const leaving = new AbortController();
  const accepted = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' };
  const headers = { Authorization: `Bearer ${key}`, ...accepted };
  const { signal } = leaving;
  const answer = await fetch(`${gateway.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body), signal });
  const { status } = answer;
  if (!answer.ok) return { status, text: await answer.text() };
  leaving.abort();
  return { status };
}

async function begin(key: string, request: Request): Promise<Run> {
  expect(await send(key, request)).toEqual({ status: 200 });
  const { body } = await gateway.as(key).get('/v1/runs?limit=1').expect(200);
  return (body as { data: Run[] }).data[0] as Run;
}

/** An account with an agent, and a thread of that. */
async function prepare(directives: readonly string[] = []) {
  const key = await gateway.toKey(newId());
  const definition = { name: 'keeper', model: 'demo/parallel', system_prompt: 'You keep.', directives };
  const api = gateway.as(key);
  const { body: agent } = await api.post('/v1/agents').send({ definition }).expect(201);
  const { body: thread } = await api.post('/v1/threads').send({ agent_id: agent.id }).expect(201);
  const makeDefault = () => api.patch(`/v1/agents/${agent.id}`).send({ is_default: true }).expect(200);
  return { key, agent: agent.id as string, thread: thread.id as string, makeDefault };
}

describe.each(Object.entries(facades))('a run of %s', (_, { field, write }) => {
  it('that names nothing has the agent of its thread, else that of the account, else the default model', async () => {
    const { key, agent, thread, makeDefault } = await prepare();

    expect(await begin(key, write({}))).toMatchObject({ agent_id: null, model: 'demo/coder' });
    expect(await begin(key, write({ thread }))).toMatchObject({ agent_id: agent, model: 'demo/parallel' });
    await makeDefault();
    expect(await begin(key, write({}))).toMatchObject({ agent_id: agent, model: 'demo/parallel' });
  });

  it('that names a model has it with the agent in force', async () => {
    const { key, agent, thread } = await prepare();

    expect(await begin(key, write({ thread, model: 'demo/plain' }))).toMatchObject({
      ...{ agent_id: agent, model: 'demo/plain' },
      settings: { agent: { system_prompt: 'You keep.' } },
    });
  });

  it('that names a model and has instructions has these as its prompt, and no stored agent', async () => {
    const { key, thread, makeDefault } = await prepare();
    await makeDefault();

    const run = await begin(key, write({ thread, model: 'demo/plain', system: 'Be brief.' }));
    expect(run).toMatchObject({
      agent_id: null,
      model: 'demo/plain',
      settings: { agent: { system_prompt: 'Be brief.' } },
    });
    expect(run.settings.agent.directives ?? []).toEqual([]);
  });

  it('that has instructions has them after those of the agent that it names, or that is in force', async () => {
    const { key, agent, thread } = await prepare(['Be kind.']);
    const followed = {
      ...{ agent_id: agent, model: 'demo/parallel' },
      settings: { agent: { system_prompt: 'You keep.', directives: ['Be kind.', 'Be brief.'] } },
    };

    expect(await begin(key, write({ agent, system: 'Be brief.' }))).toMatchObject(followed);
    expect(await begin(key, write({ thread, system: 'Be brief.' }))).toMatchObject(followed);
  });

  it('is refused with the name that its client has for instructions, where they are too many', async () => {
    const { key, agent } = await prepare(Array.from({ length: 100 }, (_, index) => `Rule ${index}.`));

    const most = await send(key, write({ agent, system: 'Be brief.' }));
    expect(most.text).toContain(`${field}: are too long beside the directives of the stored agent`);
    const long = await send(key, write({ model: 'demo/plain', system: 'Be brief. '.repeat(20_001) }));
    expect(long.text).toContain(`${field}: are longer than a prompt may be`);
  });
});

/** Protocols that have no instructions. */
const others: Readonly<Record<string, () => Request>> = {
  A2A: () => ({
    path: '/a2a',
    body: {
      ...{ jsonrpc: '2.0', id: 1, method: 'SendMessage' },
      params: {
        message: { messageId: newId(), role: 'ROLE_USER', parts: [{ text: 'Go.' }] },
        configuration: { returnImmediately: true },
      },
    },
  }),
  MCP: () => ({
    path: '/mcp',
    body: {
      ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
      params: { name: 'start_run', arguments: { input: 'Go.' } },
    },
  }),
  Suna: () => ({ path: '/suna/api/agent/initiate', body: { prompt: 'Go.' } }),
};

it.each(Object.entries(others))('a run of %s that names nothing has the agent of its account', async (_, write) => {
  const { key, agent, makeDefault } = await prepare();

  expect(await begin(key, write())).toMatchObject({ agent_id: null, model: 'demo/coder' });
  await makeDefault();
  expect(await begin(key, write())).toMatchObject({ agent_id: agent, model: 'demo/parallel' });
});

describe('a chat of OpenAI', () => {
  it('that names nothing has the default model, and its instructions as the prompt', async () => {
    const { key } = await prepare();

    expect(await begin(key, chat({ system: 'Be brief.' }))).toMatchObject({
      ...{ agent_id: null, model: 'demo/coder' },
      settings: { agent: { system_prompt: 'Be brief.' } },
    });
  });

  it('is refused by the names that its client has for fields of a run', async () => {
    const { key } = await prepare(Array.from({ length: 100 }, (_, index) => `Rule ${index}.`));

    const { text } = await send(key, chat({ model: 'keeper', system: 'Be brief.' }));
    expect(JSON.parse(text ?? '')).toMatchObject({ error: { param: 'messages' } });
  });
});
