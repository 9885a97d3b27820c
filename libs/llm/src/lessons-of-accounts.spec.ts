import type { ModelRequest, ProviderSettings } from '@rondo/domain';
import { createModels } from './models';
import { anthropic, openAi } from './testing/protocol-scripts';
import { readReply, requestTo } from './testing/read-model-reply';
import { type Answer, type ReceivedRequest, ScriptedProvider } from './testing/scripted-provider';

let provider: ScriptedProvider;
beforeAll(async () => {
  provider = await ScriptedProvider.start();
});
afterAll(() => provider.stop());

const create = (kind: ProviderSettings['kind'] = 'openai') =>
  createModels({
    providers: [{ name: 'acme', kind, baseUrl: provider.url, apiKey: 'key', headers: {}, models: [] }],
    retries: { attempts: 1 },
  });
type Models = ReturnType<typeof create>;

const ask = (models: Models, account: string, more: Partial<ModelRequest>) =>
  readReply(models.stream(requestTo('acme/m', { account, ...more }), new AbortController().signal));

const whole: Answer = { pieces: openAi.whole('Fine.') };
const refused = (message: string): Answer => ({
  status: 400,
  headers: { 'content-type': 'application/json' },
  pieces: [JSON.stringify({ type: 'error', error: { type: 'invalid_request_error', message } })],
});
const lastBody = (): Record<string, unknown> => provider.requests.at(-1)?.body ?? {};

const tool = (pattern: string) => ({
  name: 'find',
  description: 'Finds.',
  schema: { type: 'object', properties: { a: { type: 'string', pattern } } },
});
const format = (name: string) => ({ type: 'json_schema' as const, json_schema: { name, schema: { type: 'object' } } });

const refusals: [string, string, Partial<ModelRequest>, string][] = [
  ['schemas', 'tools[0]: the schema has a pattern that is no expression', { tools: [tool('^a$')] }, '"pattern":"^a$"'],
  ['temperatures', "Invalid 'temperature': at most 1.", { settings: { temperature: 0.5 } }, '"temperature":0.5'],
  ['a longest reply', 'max_tokens is too large: 9. At most 8.', { settings: { max_tokens: 7 } }, '"max_tokens":7'],
  [
    'a format of replies',
    "Invalid schema for response_format 'odd'.",
    { settings: { response_format: format('good') } },
    '"name":"good"',
  ],
];

it.each(refusals)(
  'a refusal of %s that one account provokes changes no request of others',
  async (_, said, asked, sent) => {
    const models = create();
    provider.will(refused(said), refused(said), refused(said), whole);
    await ask(models, 'acc_hostile', asked);

    provider.will(whole);
    await ask(models, 'acc_other', asked);

    expect(JSON.stringify(lastBody())).toContain(sent);
    await ask(models, 'acc_hostile', asked);
    expect(JSON.stringify(lastBody())).not.toContain(sent);
  },
);

it('a refusal of tools and of a limit that one account provokes changes no request of others to Claude', async () => {
  const models = create('anthropic');
  const asked = { tools: [tool('^a$')], settings: { max_tokens: 900 } };
  const fine: Answer = { pieces: anthropic.whole('Fine.') };
  provider.will(refused('max_tokens: 900 > 5'), refused('tools.0.custom.input_schema: no pattern'), fine);
  await ask(models, 'acc_hostile', asked);
  expect(lastBody()).toMatchObject({ max_tokens: 5 });
  expect(JSON.stringify(lastBody())).not.toContain('"pattern"');

  provider.will(fine);
  await ask(models, 'acc_other', asked);

  expect(lastBody()).toMatchObject({ max_tokens: 900 });
  expect(JSON.stringify(lastBody())).toContain('"pattern"');
});

it('a model whose template knows no system prompt is told it with the first words of the user', async () => {
  const models = create();
  const strict = ({ body }: ReceivedRequest) =>
    JSON.stringify(body).includes('"role":"system"') ? refused('System role not supported') : whole;
  provider.will(strict, strict);

  const { text, retries } = await ask(models, 'acc_a', {});

  expect([text, retries]).toEqual(['Fine.', []]);
  expect(lastBody()['messages']).toEqual([{ role: 'user', content: 'You are terse.\n\nHello?' }]);
});

it('two requests that are refused at the same time for the same reason are both sent again', async () => {
  const models = create();
  const strict = ({ body }: ReceivedRequest) =>
    'stream_options' in body ? refused('Unknown parameter: stream_options') : whole;
  provider.will(strict, strict, strict, strict);

  const replies = await Promise.all([ask(models, 'acc_a', {}), ask(models, 'acc_a', {})]);

  expect(replies.map(({ text, end }) => [text, end.how])).toEqual([
    ['Fine.', 'finished'],
    ['Fine.', 'finished'],
  ]);
});
