import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { whyNoDemoModel } from './demo-models';
import {
  hasToolCalls,
  listModels,
  mostCallCost,
  readProviders,
  splitModelName,
  usualModel,
  whyNotConfigured,
} from './provider-settings';

const declared = (...providers: object[]) => ({ MODEL_PROVIDERS: JSON.stringify(providers) });

describe('readProviders', () => {
  it('names the variable that a missing provider needs', () => {
    const { providers, absent } = readProviders({});

    expect(providers).toEqual([]);
    expect(absent.map(({ name }) => name)).toEqual(['anthropic', 'openai', 'demo', 'demo-anthropic']);
    expect(absent[1]?.reason).toContain('set OPENAI_API_KEY');
  });

  it('reads keys and base URLs of the official providers, and both protocols of the demo server', () => {
    const { providers, absent } = readProviders({
      OPENAI_API_KEY: 'key-o',
      OPENAI_BASE_URL: 'http://proxy/v1',
      ANTHROPIC_API_KEY: 'key-a',
      DEMO_MODEL_URL: 'http://127.0.0.1:4010/',
    });

    const nothing = { headers: {}, models: [] };
    const demo = { ...nothing, whyNoModel: whyNoDemoModel };
    expect(absent).toEqual([]);
    expect(providers).toEqual([
      { name: 'anthropic', kind: 'anthropic', apiKey: 'key-a', ...nothing },
      { name: 'openai', kind: 'openai', apiKey: 'key-o', baseUrl: 'http://proxy/v1', ...nothing },
      { name: 'demo', kind: 'openai', apiKey: 'demo', baseUrl: 'http://127.0.0.1:4010/v1', ...demo },
      { name: 'demo-anthropic', kind: 'anthropic', apiKey: 'demo', baseUrl: 'http://127.0.0.1:4010', ...demo },
    ]);
  });

  it('reads further servers, with the key in the variable that they name or without one', () => {
    const local = { name: 'local', base_url: 'http://localhost:11434/v1' };
    const groq = { name: 'groq', base_url: 'https://api.groq.com/openai/v1', api_key_variable: 'GROQ_API_KEY' };

    const { providers, absent } = readProviders({ ...declared(local, groq) });

    expect(providers).toMatchObject([{ name: 'local', kind: 'openai', apiKey: 'none' }]);
    expect(absent.at(-1)?.reason).toContain('set GROQ_API_KEY');
    expect(readProviders({ ...declared(groq), GROQ_API_KEY: 'k' }).providers).toMatchObject([{ apiKey: 'k' }]);
  });

  it('parses the example of docs/add-a-provider.md', () => {
    const guide = readFileSync(join(__dirname, '../../../../docs/add-a-provider.md'), 'utf8');
    const [, MODEL_PROVIDERS = ''] = /```json\n([^]+?)```/.exec(guide) ?? [];

    expect(readProviders({ MODEL_PROVIDERS, LOCAL_KEY: 'k' }).providers).toMatchObject([
      { name: 'local', headers: { 'x-team': 'red' }, models: [{ context_window: 128_000 }, { tool_calls: false }] },
    ]);
  });

  it('parses the example of a declared profile in docs/add-a-provider.md', () => {
    const guide = readFileSync(join(__dirname, '../../../../docs/add-a-provider.md'), 'utf8');
    const [, example = ''] = guide.slice(guide.indexOf('## What servers differ in')).split(/```(?:json)?\n/, 3);

    expect(readProviders({ MODEL_PROVIDERS: example }).providers).toMatchObject([
      { name: 'lab', profile: { like: 'deepseek', rules: { textOnly: false } }, extraBody: { top_k: 20 } },
      { name: 'old', profile: { rules: { maxTools: 20, noStreamOptions: true } } },
    ]);
  });

  it('replaces an official provider by a declared one of the same name', () => {
    const own = { name: 'openai', base_url: 'http://proxy/v1', api_key_variable: 'KEY' };
    const { providers, absent } = readProviders({ ...declared(own), KEY: 'k' });
    expect(providers).toMatchObject([{ name: 'openai', apiKey: 'k' }]);
    expect(absent.map(({ name }) => name)).not.toContain('openai');
  });

  it.each(['{', '{}', '[{"name":"A B","base_url":"x"}]'])('explains what is wrong with %s', (MODEL_PROVIDERS) => {
    expect(() => readProviders({ MODEL_PROVIDERS })).toThrow('MODEL_PROVIDERS cannot be understood');
  });
});

describe('a declared cloud', () => {
  const read = (one: object, variables = {}) => readProviders({ MODEL_PROVIDERS: JSON.stringify([one]), ...variables });
  const found = (one: object, variables = {}) => read(one, variables).providers.find(({ name }) => name === 'c');

  it('is Azure if its URL names the version of an API', () => {
    expect(found({ name: 'c', base_url: 'https://a.example/openai/deployments/d?api-version=2024-10-21' })?.kind).toBe(
      'azure',
    );
  });

  it('has its secrets in variables, and is absent without them', () => {
    const bedrock = {
      name: 'c',
      kind: 'bedrock',
      region: 'r',
      access_key_variable: 'ID',
      secret_key_variable: 'SECRET',
    };
    expect(found(bedrock, { ID: 'i', SECRET: 's' })).toMatchObject({
      kind: 'bedrock',
      cloud: { region: 'r', accessKey: 'i', secretKey: 's' },
    });
    expect(read(bedrock, { ID: 'i' }).absent).toMatchObject([{}, {}, {}, {}, { name: 'c' }]);
  });

  it.each([
    [{ name: 'c' }, 'base_url'],
    [{ name: 'c', kind: 'vertex' }, 'project'],
    [{ name: 'c', kind: 'bedrock', access_key_variable: 'ID' }, 'secret_key_variable'],
    [{ name: 'c', base_url: 'https://a.example/v1/chat/completions' }, 'must end before the path'],
  ])('is refused as %j, with what is wrong', (one, problem) => {
    expect(() => read(one)).toThrow(problem);
  });
});

describe('splitModelName', () => {
  it('leaves everything after the first slash to the model', () => {
    expect(splitModelName('openrouter/anthropic/claude:free')).toEqual({
      provider: 'openrouter',
      id: 'anthropic/claude:free',
    });
  });
});

describe('how a declared server replies', () => {
  const read = (entry: object) =>
    readProviders(declared({ name: 'local', base_url: 'http://l/v1', ...entry })).providers[0];

  it('is by streams within the usual time, unless it is declared', () => {
    expect(read({})).toMatchObject({ streams: true });
    expect(read({ streaming: false, timeout_s: 300 })).toMatchObject({ streams: false, timeoutMs: 300_000 });
  });

  it('cannot be without streams for Anthropic’s protocol', () => {
    expect(() => read({ kind: 'anthropic', streaming: false })).toThrow('streaming');
  });
});

describe('what a server differs in', () => {
  const entry = { name: 'local', base_url: 'http://l/v1' };
  const read = (more: object) => readProviders(declared({ ...entry, ...more })).providers[0];

  it.each([
    ['deepseek', { like: 'deepseek', rules: {} }],
    [{ text_only: true, max_tools: 64 }, { rules: { textOnly: true, maxTools: 64 } }],
    [
      { like: 'kimi', reasoning: 'none' },
      { like: 'kimi', rules: { reasoning: 'none' } },
    ],
    [{ efforts: ['high', 'low'] }, { rules: { efforts: ['low', 'high'] } }],
    [
      { no_user_after_tool: false, no_stream_options: true, plain_schemas: true },
      { rules: { noUserAfterTool: false, noStreamOptions: true, plainSchemas: true } },
    ],
  ])('can be declared as %j', (profile, expected) => {
    expect(read({ profile })?.profile).toEqual(expected);
  });

  it('can be parameters of every request', () => {
    expect(read({ extra_body: { top_k: 5 } })?.extraBody).toEqual({ top_k: 5 });
  });

  it.each([
    [{ profile: 'deepseak' }, '[0].profile.like'],
    [{ profile: { text_only: 'yes' } }, '[0].profile.text_only'],
    [{ profile: { efforts: [] } }, '[0].profile.efforts'],
    [{ profile: { textOnly: true } }, 'Unrecognized key: "textOnly"'],
    [{ profile: 7 }, '[0].profile'],
    [{ profile: 'kimi', kind: 'anthropic' }, '[0].profile'],
    [{ profile: { max_tools: 5 }, kind: 'bedrock' }, '[0].profile'],
    [{ profile: { documents: 'image' }, kind: 'anthropic' }, '[0].profile'],
    [{ profile: { too_long: ['short'] } }, '[0].profile.too_long'],
    [{ extra_body: { tools: [] } }, '[0].extra_body'],
    [{ extra_body: { long: 'x'.repeat(20_000) } }, '[0].extra_body'],
  ])('is refused as %j, with the name of the field', (more, problem) => {
    expect(() => read(more)).toThrow(problem);
  });
});

describe('whyNotConfigured', () => {
  const known = readProviders({ OPENAI_API_KEY: 'k', DEMO_MODEL_URL: 'http://demo' });

  it('is undefined for any model of a configured provider', () => {
    expect(whyNotConfigured('openai/gpt-99', known)).toBeUndefined();
  });

  it.each(['demo/plain', 'demo-anthropic/plain:tokens=20,pace_ms=1'])(
    'is undefined for %s, which is there',
    (model) => {
      expect(whyNotConfigured(model, known)).toBeUndefined();
    },
  );

  it('is undefined for any model of another server that is named demo', () => {
    const own = { name: 'demo', base_url: 'http://own/v1' };
    expect(
      whyNotConfigured('demo/nonsense', readProviders({ MODEL_PROVIDERS: JSON.stringify([own]) })),
    ).toBeUndefined();
  });

  it.each([
    ['anthropic/claude-opus-5', 'set ANTHROPIC_API_KEY'],
    ['missing/x', 'There is no model provider "missing". Configured: openai, demo, demo-anthropic.'],
    ['demo/nonsense', 'There is no model "demo/nonsense". The models are: coder, site, plain,'],
    ['demo-anthropic/nonsense:tokens=2', 'There is no model "demo-anthropic/nonsense:tokens=2".'],
    ['demo/plain:tokens', '"tokens" is not of the form name=value'],
    ['demo/plain:token=2', 'plain has no parameter token. It has: tokens, delay_ms,'],
    ['demo/plain:__proto__=2', 'plain has no parameter __proto__'],
    ['demo/plain:tokens=1,tokens=2', 'tokens is given twice'],
    ['demo/parallel:calls=101', 'calls must be a whole number from 1 to 100'],
    ['demo-anthropic/team:agents=a++b', 'agents must be 1 to 20 names'],
    ['demo/team', 'team needs the parameter agents'],
    ['gpt-5', 'must look like provider/model'],
    ['openai/', 'must look like provider/model'],
  ])('says why %s cannot be asked', (model, reason) => {
    expect(whyNotConfigured(model, known)).toContain(reason);
  });
});

describe('hasToolCalls', () => {
  const local = {
    name: 'local',
    base_url: 'http://l/v1',
    tool_calls: false,
    models: [{ id: 'new', tool_calls: true }],
  };
  const proxy = { name: 'openai', base_url: 'http://p/v1', models: [{ id: 'gpt-4o', tool_calls: false }] };
  const known = readProviders({ DEMO_MODEL_URL: 'http://demo', ...declared(local, proxy) });

  it.each([
    ['demo/coder', true],
    ['local/any', false],
    ['local/new', true],
    ['openai/gpt-5', true],
    ['openai/gpt-4o-2024-08-06', false],
    ['missing/x', true],
  ])('is what is declared of the model, else of its provider, else true: %s', (model, answer) => {
    expect(hasToolCalls(model, known)).toBe(answer);
  });
});

describe('listModels', () => {
  it('lists the known and the declared models of configured providers only', () => {
    const price = { input: 1, output: 2 };
    const models = listModels(
      readProviders({
        DEMO_MODEL_URL: 'http://demo',
        ...declared({ name: 'local', base_url: 'http://l/v1', models: [{ id: 'q', context_window: 32_000, price }] }),
      }),
      0,
    );

    expect(models).toContainEqual({
      id: 'local/q',
      provider: 'local',
      context_window: 32_000,
      max_output_tokens: null,
      price,
    });
    expect(models.map(({ id }) => id)).toContain('demo/plain');
    expect(new Set(models.map(({ provider }) => provider))).toEqual(new Set(['demo', 'demo-anthropic', 'local']));
  });
});

describe('mostCallCost', () => {
  const models = [{ id: 'm', price: { input: 2, output: 0 } }];
  const providers = readProviders({
    ...declared({ name: 'local', base_url: 'http://localhost/v1', models }),
    ANTHROPIC_API_KEY: 'k',
  });
  const inputCost = (model: string, waitsLong: boolean) =>
    mostCallCost({ model, inputTokens: 1_000_000, maxOutputTokens: 0, unsettledUsd: 0, waitsLong }, providers, 0);

  it('counts what a prompt costs that is kept for an hour, where a model has a price for what is kept', () => {
    expect(inputCost('anthropic/claude-sonnet-4-5', true)).toBeCloseTo(
      1.6 * (inputCost('anthropic/claude-sonnet-4-5', false) ?? NaN),
    );
    expect(inputCost('local/m', true)).toBe(2);
    expect(inputCost('local/m', false)).toBe(2);
  });
});

it.each([
  [{}, 'demo/coder'],
  [{ DEMO_MODEL_URL: 'http://demo' }, 'demo/coder'],
  [{ DEMO_MODEL_URL: 'http://demo', OPENAI_API_KEY: 'k' }, 'openai/gpt-5.1'],
  [{ ANTHROPIC_API_KEY: 'k' }, 'anthropic/claude-sonnet-5'],
  [{ ANTHROPIC_API_KEY: 'k', OPENAI_API_KEY: 'k' }, 'openai/gpt-5.1'],
  [{ OPENAI_API_KEY: 'k', OPENAI_BASE_URL: 'http://local/v1' }, 'openai/gpt-5.1'],
  [{ ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: 'http://local' }, 'anthropic/claude-sonnet-5'],
  [{ MODEL_PROVIDERS: '[{"name":"openai","base_url":"http://local/v1"}]' }, 'openai/gpt-5.1'],
  [
    {
      OPENAI_API_KEY: 'k',
      MODEL_PROVIDERS: '[{"name":"openai","base_url":"http://local/v1","models":[{"id":"own"}]}]',
    },
    'openai/own',
  ],
])('the usual model where there is %j is %s', (variables, model) => {
  expect(usualModel(readProviders(variables))).toBe(model);
});
