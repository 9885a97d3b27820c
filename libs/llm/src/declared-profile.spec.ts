import { type ModelRequest, readProviders } from '@rondo/domain';
import { createModels } from './models';
import { imagesOfAllKinds } from './testing/model-histories';
import { anthropic, openAi } from './testing/protocol-scripts';
import { readReply, requestTo } from './testing/read-model-reply';
import { ScriptedProvider } from './testing/scripted-provider';

const never = new AbortController().signal;
const tool = (name: string) => ({
  name,
  description: 'Does.',
  schema: { type: 'object', properties: { n: { type: ['integer', 'null'] } } },
});

/** What MODEL_PROVIDERS declares, as it arrives at the server. */
describe('a declared provider', () => {
  let server: ScriptedProvider;
  beforeAll(async () => {
    server = await ScriptedProvider.start();
  });
  afterAll(() => server.stop());

  async function ask(entry: object, request: Partial<ModelRequest> = {}): Promise<Record<string, unknown>> {
    const MODEL_PROVIDERS = JSON.stringify([{ name: 'lab', base_url: `${server.url}/v1`, ...entry }]);
    const models = createModels({ providers: readProviders({ MODEL_PROVIDERS }).providers });
    await readReply(models.stream(requestTo('lab/m', request), never));
    return server.requests.at(-1)?.body ?? {};
  }

  it('is asked by the rules of its profile', async () => {
    server.will({ pieces: openAi.whole('ok') });
    const profile = {
      ...{ text_only: true, no_stream_options: true, plain_schemas: true, max_tools: 1 },
      efforts: ['low', 'medium'],
    };

    const body = await ask(
      { profile },
      {
        tools: [tool('one'), tool('two')],
        messages: [imagesOfAllKinds],
        settings: { reasoning_effort: 'max' },
      },
    );

    expect(body).toMatchObject({ reasoning_effort: 'medium', tools: [{ function: { name: 'one' } }] });
    expect(body['tools']).toHaveLength(1);
    expect(JSON.stringify(body['tools'])).toContain('"nullable":true');
    expect(body).not.toHaveProperty('stream_options');
    expect(JSON.stringify(body['messages'])).not.toContain('image_url');
  });

  it('is asked like another one, but for what is declared', async () => {
    server.will({ pieces: openAi.whole('ok') });
    const profile = { like: 'deepseek', text_only: false };

    const body = await ask({ profile }, { messages: [imagesOfAllKinds] });

    expect(JSON.stringify(body['messages'])).toContain('image_url');
  });

  it.each([
    [openAi, {}],
    [anthropic, { kind: 'anthropic' }],
  ])('is understood where it says in its own words that a request is too long (%#)', async (script, entry) => {
    const profile = { too_long: ['i read no essays of 9,000 words'] };
    const MODEL_PROVIDERS = JSON.stringify([{ name: 'lab', base_url: `${server.url}/v1`, profile, ...entry }]);
    const models = createModels({ providers: readProviders({ MODEL_PROVIDERS }).providers });
    const said = (message: string) => ({ status: 400, pieces: [JSON.stringify({ error: { message } })] });
    server.will(said('Sorry, I read no  essays of 12345 words.'), said('I read no essays.'), {
      pieces: script.whole('ok'),
    });

    const codes = [];
    for (let index = 0; index < 3; index++) codes.push((await readReply(models.stream(requestTo('lab/m'), never))).end);

    expect(codes).toMatchObject([
      { how: 'failed', error: { code: 'context_window_exceeded' } },
      { how: 'failed', error: { code: 'invalid_request' } },
      { how: 'finished' },
    ]);
  });

  it.each([
    [openAi, {}],
    [anthropic, { kind: 'anthropic' }],
  ])('gets its parameters below those of the run (%#)', async (script, entry) => {
    server.will({ pieces: script.whole('ok') });
    const extra_body = { top_k: 5, min_p: 0.1 };

    const body = await ask({ ...entry, extra_body }, { settings: { extra_body: { top_k: 9 } } });

    expect(body).toMatchObject({ model: 'm', top_k: 9, min_p: 0.1 });
  });

  it('gets its parameters through the Responses API, too', async () => {
    server.will({ pieces: ['data: {"type":"response.completed","response":{"status":"completed"}}\n\n'] });

    const body = await ask({ api: 'responses', extra_body: { service_tier: 'flex' } });

    expect(server.requests[0]?.path).toBe('/v1/responses');
    expect(body).toMatchObject({ service_tier: 'flex', store: false });
  });
});
