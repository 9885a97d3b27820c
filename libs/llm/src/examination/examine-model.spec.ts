import { once } from 'node:events';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { ProviderSettings } from '@rondo/domain';
import { anthropic } from '../testing/protocol-scripts';
import { declareProvider } from './declared-provider';
import { examineModel, tryModel } from './examine-model';

interface Asked {
  readonly messages: readonly { readonly role: string }[];
  readonly tools?: readonly unknown[];
  readonly reasoning_effort?: string;
}
interface Answer {
  readonly status?: number;
  readonly refused?: string;
  readonly content?: string;
  readonly calls?: readonly object[];
}

let server: Server;
let answer: (asked: Asked) => Answer;
let calls: number;

beforeAll(async () => {
  server = createServer((request, response) => {
    void text(request).then((body) => {
      calls++;
      const { status = 200, refused, content = 'ok', calls: tool_calls } = answer(JSON.parse(body) as Asked);
      const message = { role: 'assistant', content, ...(tool_calls && { tool_calls }) };
      const choices = [{ index: 0, message, finish_reason: tool_calls ? 'tool_calls' : 'stop' }];
      response.writeHead(refused === undefined ? 200 : status === 200 ? 400 : status, {
        'content-type': 'application/json',
        'retry-after-ms': '1',
      });
      if (refused === undefined && request.url?.endsWith('/messages') === true)
        response.end(anthropic.whole(content).join(''));
      else response.end(JSON.stringify(refused === undefined ? { choices } : { error: { message: refused } }));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
beforeEach(() => (calls = 0));
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const lab = (more: Partial<ProviderSettings> = {}): ProviderSettings => ({
  name: 'lab',
  kind: 'openai',
  baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, // it listens on a port
  apiKey: 'a-secret',
  headers: {},
  models: [],
  ...more,
});

const asked = (provider = lab()) => ({ provider, model: 'lab/m', signal: new AbortController().signal });
const lookUp = (id: string) => ({
  ...{ id, type: 'function', index: 0 },
  function: { name: 'look_up', arguments: '{"word":"north"}' },
});

describe('examineModel', () => {
  it('says that a server sends whole replies without usage', async () => {
    answer = () => ({});

    const { findings } = await examineModel(asked());

    expect(findings).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ name: 'stream', status: 'lacks' }),
        expect.objectContaining({ name: 'usage', status: 'lacks' }),
        expect.objectContaining({
          name: 'tool calls',
          status: 'broken',
          found: expect.stringContaining('without a call'),
        }),
        expect.objectContaining({
          name: 'too long',
          status: 'unknown',
          advice: expect.stringContaining('context_window'),
        }),
      ]),
    );
  });

  it('declares that a model has no calls when tools are refused', async () => {
    answer = ({ tools }) => (tools ? { refused: 'm does not support tools' } : {});

    const { facts, findings } = await examineModel(asked());

    expect(facts).toEqual({ tool_calls: false });
    expect(findings.filter(({ name }) => name === 'many tools')).toEqual([]);
  });

  it('declares that a model prints its calls', async () => {
    answer = ({ tools }) =>
      tools ? { content: '<tool_call>\n{"name": "look_up", "arguments": {"word": "north"}}\n</tool_call>' } : {};

    expect((await examineModel(asked())).facts).toEqual({ printed_calls: true });
  });

  it.each(['openai', 'anthropic'] as const)(
    'declares the words for too long that it does not know (%s)',
    async (kind) => {
      const words = 'I read no essays of 1,250 words';
      answer = ({ messages }) => (JSON.stringify(messages).length > 5_000 ? { refused: words } : {});
      const provider = lab({ kind, models: [{ id: 'm', context_window: 1_000 }] });

      const found = await examineModel(asked(provider));

      expect(found.findings).toContainEqual(expect.objectContaining({ name: 'too long', status: 'adapted' }));
      expect(found.rules.tooLong).toEqual([words]);
      expect(declareProvider(found, { provider, model: 'lab/m', before: '[]' })?.value).toContain(
        `"too_long":["${words}"]`,
      );
    },
  );

  it('finds the most tools that a server takes, and counts parallel calls', async () => {
    answer = ({ tools = [], messages }) => {
      if (tools.length > 50) return { refused: 'too many tools' };
      return tools.length === 1 && messages.at(-1)?.role === 'user' ? { calls: [lookUp('a'), lookUp('b')] } : {};
    };

    const { rules, findings } = await examineModel(asked());

    expect(rules).toMatchObject({ maxTools: 40 });
    expect(findings).toContainEqual(expect.objectContaining({ name: 'parallel calls', status: 'works' }));
  });

  it('sends at most 40 calls to a server that refuses all that it can, and says what was not found out', async () => {
    answer = ({ tools = [], messages, reasoning_effort }) => {
      if (messages.length > 2) return { refused: 'no' };
      if (tools.length > 0) return tools.length === 1 ? { calls: [lookUp(`c${calls}`)] } : { refused: 'too many' };
      return reasoning_effort === undefined ? {} : { status: 500, refused: 'an accident' };
    };

    const examination = await examineModel(asked());

    expect(calls).toBe(40);
    expect(examination.calls).toBe(40);
    expect(examination.findings).toContainEqual(expect.objectContaining({ name: 'loop of calls', status: 'broken' }));
    expect(examination.findings.at(-1)).toMatchObject({ name: 'the rest', status: 'unknown' });
  });

  it('ends with the first call when the key is refused, and does not tell the key', async () => {
    answer = () => ({ status: 401, refused: 'the key a-secret is wrong' });

    const { findings } = await examineModel(asked());

    expect(calls).toBe(1);
    expect(findings).toEqual([
      expect.objectContaining({
        name: 'reply',
        status: 'broken',
        found: expect.stringContaining('the key is refused'),
      }),
    ]);
    expect(JSON.stringify(findings)).not.toContain('a-secret');
  });
});

describe('tryModel', () => {
  it.each([
    [401, 'the key is refused'],
    [403, 'the key is refused'],
    [404, 'no such model'],
    [429, 'its limit is used up'],
    [400, 'said so'],
  ])('explains %i', async (status, reason) => {
    answer = () => ({ status, refused: 'said\n so' });

    expect(await tryModel(asked())).toContain(reason);
    expect(calls).toBe(1);
  });

  it('says that a server is not there', async () => {
    expect(await tryModel(asked(lab({ baseUrl: 'http://127.0.0.1:1/v1' })))).toContain('cannot be reached');
  });

  it('learns a refused parameter, as the service does', async () => {
    answer = (body) => ('max_tokens' in body ? { refused: "Unsupported parameter: 'max_tokens'" } : {});

    expect(await tryModel(asked())).toBeUndefined();
    expect(calls).toBe(2);
  });
});

describe('declareProvider', () => {
  const found = { rules: { plainSchemas: true }, facts: { printed_calls: true as const } };

  it('changes only what differs in an entry, and shows none of its headers', () => {
    const before = JSON.stringify([
      { name: 'lab', headers: { 'x-key': 'hidden' }, profile: 'vllm', models: [{ id: 'm', context_window: 8 }] },
    ]);

    const declared = declareProvider(found, { provider: lab(), model: 'lab/m', before });

    const profile = { like: 'vllm', plain_schemas: true };
    expect(declared?.shown).toEqual({ name: 'lab', profile, models: [{ id: 'm', printed_calls: true }] });
    expect(JSON.parse(declared?.value ?? '')).toEqual([
      {
        ...{ name: 'lab', headers: { 'x-key': 'hidden' }, profile },
        models: [{ id: 'm', context_window: 8, printed_calls: true }],
      },
    ]);
  });

  it('gives a built-in provider an entry, with the variable of its key', () => {
    const provider = lab({ name: 'openai' });
    const declared = declareProvider({ ...found, facts: {} }, { provider, model: 'openai/m', before: undefined });

    expect(JSON.parse(declared?.value ?? '')).toEqual([
      {
        ...{ name: 'openai', kind: 'openai', base_url: provider.baseUrl, api_key_variable: 'OPENAI_API_KEY' },
        profile: { plain_schemas: true },
      },
    ]);
  });

  it('declares nothing where nothing differs', () => {
    expect(
      declareProvider({ rules: {}, facts: {} }, { provider: lab(), model: 'lab/m', before: '[]' }),
    ).toBeUndefined();
  });
});
