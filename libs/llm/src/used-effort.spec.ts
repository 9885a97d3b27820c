import type { ModelRequest, ProviderSettings } from '@rondo/domain';
import { ConnectProxy } from '@rondo/platform/testing';
import { createModels } from './models';
import { anthropic, openAi } from './testing/protocol-scripts';
import { readReply, requestTo } from './testing/read-model-reply';
import { ScriptedProvider } from './testing/scripted-provider';

const never = new AbortController().signal;
const tools = [{ name: 'shell', description: 'Runs a command.', schema: { type: 'object', properties: {} } }];
const completed = ['data: {"type":"response.completed","response":{"status":"completed"}}\n\n'];

const times = <One>(count: number, one: One): One[] => Array.from({ length: count }, () => one);

type Declared = Partial<ProviderSettings> & { readonly httpProxy?: string };

/** What a run asks for, what its model is sent, and what the run shows of it. */
describe('the effort of a call', () => {
  let server: ScriptedProvider;
  beforeAll(async () => {
    server = await ScriptedProvider.start();
  });
  afterAll(() => server.stop());

  const acme = () =>
    ({ name: 'acme', kind: 'openai', baseUrl: server.url, apiKey: 'k', headers: {}, models: [] }) as const;

  async function ask(declared: Declared, model: string, request: Partial<ModelRequest>) {
    const { httpProxy, ...more } = declared;
    const models = createModels({ providers: [{ ...acme(), ...more }], ...(httpProxy && { proxies: { httpProxy } }) });
    const { end } = await readReply(models.stream(requestTo(`acme/${model}`, request), never));
    return { effort: end.notes?.effort, request: server.requests[0] };
  }

  const settings = { reasoning_effort: 'high' } as const;

  it('is that of the run beside tools at OpenAI itself, through the Responses API', async () => {
    server.will({ pieces: completed });
    const proxy = await ConnectProxy.start(() => Number(new URL(server.url).port));
    const openAiItself = { baseUrl: 'http://api.openai.com/v1', httpProxy: proxy.url };

    const { effort, request } = await ask(openAiItself, 'gpt-5.6', { tools, settings });
    proxy.stop();

    expect(proxy.asked).toEqual(['api.openai.com:80']);

    expect(request?.path).toMatch(/\/v1\/responses$/);
    expect(request?.body).toMatchObject({ reasoning: { effort: 'high' }, tools: [{ name: 'shell' }] });
    expect(effort).toBe('high');
  });

  it('is that of the run at a server that is declared to have the Responses API', async () => {
    server.will({ pieces: completed });
    const { effort, request } = await ask({ api: 'responses' }, 'gpt-5.6', { tools, settings });
    expect(request?.path).toBe('/responses');
    expect(effort).toBe('high');
  });

  it('is not shown of a model that refuses it, which is learned once', async () => {
    const message = "Unsupported parameter: 'reasoning.effort' is not supported with this model.";
    server.will({ status: 400, pieces: [JSON.stringify({ error: { message } })] }, ...times(2, { pieces: completed }));
    const settled = { ...acme(), api: 'responses' as const };
    const models = createModels({ providers: [settled] });
    const askAgain = () => readReply(models.stream(requestTo('acme/gpt-5.6', { tools, settings }), never));

    const ends = [(await askAgain()).end, (await askAgain()).end];

    expect(ends).toMatchObject(times(2, { how: 'finished', notes: { omittedParameters: ['reasoning'] } }));
    expect(ends.map(({ notes }) => notes?.effort)).toEqual([undefined, undefined]);
    expect(server.requests.map(({ body }) => 'reasoning' in (body as object))).toEqual([true, false, false]);
  });

  it('is none beside tools in Chat Completions, which refuses another', async () => {
    server.will({ pieces: openAi.whole('ok') });
    const { effort, request } = await ask({}, 'gpt-5.6', { tools, settings });
    expect(request?.path).toBe('/chat/completions');
    expect(effort).toBe('none');
  });

  it.each([
    ['claude-opus-4-6', 'high', 'high'],
    ['claude-opus-4-6', 'minimal', 'low'],
    ['claude-sonnet-4-5', 'high', 'high'],
    ['claude-opus-5', 'none', 'none'],
    ['claude-sonnet-4-5', undefined, undefined],
  ] as const)('of %s asked for %s is shown as %s', async (model, reasoning_effort, used) => {
    server.will({ pieces: anthropic.whole('ok') });
    const { effort } = await ask({ kind: 'anthropic' }, model, {
      settings: reasoning_effort ? { reasoning_effort } : {},
    });
    expect(effort).toBe(used);
  });

  it('is not shown where a run sends a word of its own', async () => {
    server.will({ pieces: openAi.whole('ok') });
    const own = { extra_body: { reasoning_effort: 'gigantic' } };
    const { effort, request } = await ask({}, 'some-model', { settings: own });
    expect(request?.body).toMatchObject(own.extra_body);
    expect(effort).toBeUndefined();
  });
});
