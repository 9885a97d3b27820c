import { createModels } from '../models';
import { openAi } from '../testing/protocol-scripts';
import { readReply, requestTo } from '../testing/read-model-reply';
import { ScriptedProvider } from '../testing/scripted-provider';

let provider: ScriptedProvider;
beforeAll(async () => {
  provider = await ScriptedProvider.start();
});
afterAll(() => provider.stop());

const refused = (message: string) => ({
  status: 404,
  headers: { 'content-type': 'application/json' },
  pieces: [JSON.stringify({ error: { message, type: 'invalid_request_error', param: 'model', code: null } })],
});
const onlyInResponses = refused('This model is only supported in v1/responses and not in v1/chat/completions.');
const responses = {
  pieces: [
    { type: 'response.output_text.delta', output_index: 0, delta: 'Said.' },
    { type: 'response.completed', response: { status: 'completed', usage: { input_tokens: 7, output_tokens: 2 } } },
  ].map((event) => `data: ${JSON.stringify(event)}\n\n`),
};

const createAcme = (api?: 'chat') =>
  createModels({
    providers: [
      { name: 'acme', kind: 'openai', baseUrl: `${provider.url}/v1`, apiKey: 'k', headers: {}, models: [], api },
    ],
  });
const never = new AbortController().signal;
const paths = () => provider.requests.map(({ path }) => path);

describe('a model that only the Responses API has', () => {
  it('is asked there once its provider has said so, and from then on', async () => {
    const models = createAcme();
    provider.will(onlyInResponses, responses);
    const asks = [await readReply(models.stream(requestTo('acme/gpt-5-codex'), never))];
    asks.push(await readReply(models.stream(requestTo('acme/gpt-5-codex'), never)));

    for (const { text, end, retries } of asks) {
      expect({ text, retries }).toEqual({ text: 'Said.', retries: [] });
      expect(end).toMatchObject({ how: 'finished', usage: { input_tokens: 7, output_tokens: 2 } });
    }
    expect(paths()).toEqual(['/v1/chat/completions', '/v1/responses', '/v1/responses']);
  });

  it('is refused where the provider is declared to be asked through Chat Completions', async () => {
    provider.will(onlyInResponses);
    const { end } = await readReply(createAcme('chat').stream(requestTo('acme/gpt-5-codex'), never));
    expect(end).toMatchObject({ how: 'failed', error: { code: 'not_found' } });
    expect(paths()).toEqual(['/v1/chat/completions']);
  });

  it('is refused in words that say what to do where its server has no Responses', async () => {
    const models = createAcme();
    const noPath = { status: 404, headers: { 'content-type': 'text/plain' }, pieces: ['404 page not found'] };
    provider.will(onlyInResponses, noPath, onlyInResponses);
    const { end } = await readReply(models.stream(requestTo('acme/gpt-5-codex'), never));
    expect(end).toMatchObject({ error: { message: expect.stringContaining('v1/responses') as string } });
    expect(paths()).toEqual(['/v1/chat/completions', '/v1/responses', '/v1/chat/completions']);

    provider.will(onlyInResponses);
    await readReply(models.stream(requestTo('acme/gpt-5-codex'), never));
    expect(paths()).toEqual(['/v1/chat/completions']);
  });

  it('changes nothing for another model', async () => {
    const models = createAcme();
    provider.will(onlyInResponses, responses, { pieces: openAi.whole('Chatted.') });
    await readReply(models.stream(requestTo('acme/gpt-5-codex'), never));
    expect((await readReply(models.stream(requestTo('acme/gpt-4.1'), never))).text).toBe('Chatted.');
    expect(paths().at(-1)).toBe('/v1/chat/completions');
  });
});

it('a model that refuses to use tools without thinking is asked through the Responses API', async () => {
  const invalid = (message: string) => ({ ...refused(message), status: 400 });
  provider.will(
    invalid(
      "Unsupported value: 'reasoning_effort' does not support 'none' with this model. Supported values are: 'low' and 'high'.",
    ),
    invalid(
      "Function tools with reasoning_effort are not supported for gpt-6.1-sol in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.",
    ),
    responses,
  );
  const tools = [{ name: 'look', description: 'Looks.', schema: { type: 'object', properties: {} } }];
  const { text } = await readReply(createAcme().stream(requestTo('acme/gpt-6.1-sol', { tools }), never));

  expect(text).toBe('Said.');
  expect(provider.requests.map(({ path, body }) => [path, body['reasoning_effort']])).toEqual([
    ['/v1/chat/completions', 'none'],
    ['/v1/chat/completions', undefined],
    ['/v1/responses', undefined],
  ]);
});
