import { crc32 } from 'node:zlib';
import type { ProviderSettings } from '@rondo/domain';
import { createModels } from '../models';
import { anthropic, openAi } from '../testing/protocol-scripts';
import { readReply, requestTo } from '../testing/read-model-reply';
import { ScriptedProvider } from '../testing/scripted-provider';

const never = new AbortController().signal;

let server: ScriptedProvider;
beforeAll(async () => {
  server = await ScriptedProvider.start();
});
afterAll(() => server.stop());

const tool = { name: 'shell', description: 'Runs a command.', schema: { type: 'object', properties: {} } };

function ask(provider: Pick<ProviderSettings, 'kind'> & Partial<ProviderSettings>, id = 'm') {
  const models = createModels({
    providers: [{ name: 'cloud', apiKey: 'secret-key', headers: {}, models: [], baseUrl: server.url, ...provider }],
    retries: { delayMs: 1, rateLimitDelayMs: 1 },
  });
  return readReply(models.stream(requestTo(`cloud/${id}`, { tools: [tool] }), never));
}

describe('azure', () => {
  it.each([
    ['a resource', '', { apiVersion: '2025-01-01' }, '/openai/deployments/m/chat/completions?api-version=2025-01-01'],
    [
      'a named deployment',
      '',
      { deployment: 'blue' },
      '/openai/deployments/blue/chat/completions?api-version=2024-10-21',
    ],
    [
      'a classic URL with a query',
      '/openai/deployments/d?api-version=2024-06-01',
      {},
      '/openai/deployments/d/chat/completions?api-version=2024-06-01',
    ],
    ['an undated API', '/openai/v1/', {}, '/openai/v1/chat/completions'],
    [
      'an undated API with a version',
      '/openai/v1?api-version=preview',
      {},
      '/openai/v1/chat/completions?api-version=preview',
    ],
  ])('finds the path of %s and sends the key as api-key', async (_, path, cloud, expected) => {
    server.will({ pieces: openAi.whole('Hello') });
    const { text } = await ask({ kind: 'azure', baseUrl: server.url + path, cloud });
    expect(text).toBe('Hello');
    const [request] = server.requests;
    expect(request?.path).toBe(expected);
    expect(request?.headers).toMatchObject({ 'api-key': 'secret-key' });
    expect(request?.headers).not.toHaveProperty('authorization');
  });

  it('names the deployment as the model where the path does not', async () => {
    server.will({ pieces: openAi.whole('Hello') });
    await ask({ kind: 'azure', baseUrl: `${server.url}/openai/v1`, cloud: { deployment: 'blue' } });
    expect(server.requests).toMatchObject([{ path: '/openai/v1/chat/completions', body: { model: 'blue' } }]);
  });
});

/** A frame of AWS's event stream. */
function frame(headers: Record<string, string>, payload: string): Buffer {
  const fields = Object.entries(headers).map(([name, value]) => {
    const head = Buffer.from([name.length, ...Buffer.from(name), 7, 0, 0]);
    head.writeUInt16BE(Buffer.byteLength(value), head.length - 2);
    return Buffer.concat([head, Buffer.from(value)]);
  });
  const head = Buffer.concat(fields);
  const prelude = Buffer.alloc(12);
  prelude.writeUInt32BE(16 + head.length + Buffer.byteLength(payload), 0);
  prelude.writeUInt32BE(head.length, 4);
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8);
  const message = Buffer.concat([prelude, head, Buffer.from(payload)]);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(message));
  return Buffer.concat([message, sum]);
}

/** The events of a Message in AWS's frames. */
const framed = (events: readonly string[]): Buffer[] =>
  events
    .join('')
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) =>
      frame(
        { ':event-type': 'chunk', ':content-type': 'application/json', ':message-type': 'event' },
        JSON.stringify({ bytes: Buffer.from(line.slice(6)).toString('base64') }),
      ),
    );

describe('bedrock', () => {
  const headers = { 'content-type': 'application/vnd.amazon.eventstream' };
  const cloud = { region: 'eu-central-1', accessKey: 'AKIDEXAMPLE', secretKey: 'secret', sessionToken: 'session' };

  it('signs the request with AWS keys and reads frames', async () => {
    server.will({ headers, pieces: framed(anthropic.whole('Hello')), paceMs: 1 });
    const { text, end } = await ask({ kind: 'bedrock', apiKey: 'none', cloud }, 'anthropic.claude-x-v1:0');
    expect(text).toBe('Hello');
    expect(end).toMatchObject({ how: 'finished', usage: { input_tokens: 20, output_tokens: 5 } });
    const [request] = server.requests;
    expect(request?.path).toBe('/model/anthropic.claude-x-v1:0/invoke-with-response-stream');
    expect(request?.headers['authorization']).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/eu-central-1\/bedrock\/aws4_request, SignedHeaders=.*, Signature=[0-9a-f]{64}$/,
    );
    expect(request?.headers['x-amz-security-token']).toBe('session');
    expect(request?.body).toHaveProperty('anthropic_version');
    expect(request?.body).not.toHaveProperty('model');
  });

  it('sends a Bedrock key as it is', async () => {
    server.will({ headers, pieces: framed(anthropic.whole('Hello')) });
    await ask({ kind: 'bedrock', cloud: { region: 'eu-central-1' } });
    expect(server.requests[0]?.headers['authorization']).toBe('Bearer secret-key');
  });

  it('tells what an exception among the frames says', async () => {
    const exception = {
      ':exception-type': 'throttlingException',
      ':content-type': 'application/json',
      ':message-type': 'exception',
    };
    server.will({
      headers,
      pieces: [...framed(anthropic.begun('Half')), frame(exception, '{"message":"Too many requests"}')],
    });
    const { end } = await ask({ kind: 'bedrock', cloud });
    expect(end).toMatchObject({ how: 'broken', error: { code: 'rate_limit', message: 'Too many requests' } });
  });
});

describe('vertex', () => {
  it('puts project, region and model into the path and sends the token', async () => {
    server.will({ pieces: anthropic.whole('Hello') });
    const cloud = { region: 'europe-west1', project: 'mine' };
    const { text } = await ask({ kind: 'vertex', cloud }, 'claude-x');
    expect(text).toBe('Hello');
    const [request] = server.requests;
    expect(request?.path).toBe(
      '/projects/mine/locations/europe-west1/publishers/anthropic/models/claude-x:streamRawPredict',
    );
    expect(request?.headers['authorization']).toBe('Bearer secret-key');
    expect(request?.body).toHaveProperty('anthropic_version');
  });
});

describe('responses', () => {
  const send = (...events: object[]) => [events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')];
  const kept = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'c2VjcmV0' };
  const called = { type: 'function_call', call_id: 'c1', name: 'shell', arguments: '{"a":1}' };

  it('stores nothing, and reads calls with the reasoning that belongs to them', async () => {
    server.will({
      pieces: send(
        { type: 'response.created', response: { status: 'in_progress' } },
        { type: 'response.output_item.added', output_index: 0, item: { type: 'reasoning', id: 'rs_1' } },
        { type: 'response.output_item.done', output_index: 0, item: kept },
        { type: 'response.output_item.added', output_index: 1, item: { ...called, arguments: '' } },
        { type: 'response.function_call_arguments.delta', output_index: 1, delta: '{"a":' },
        { type: 'response.function_call_arguments.delta', output_index: 1, delta: '1}' },
        { type: 'response.output_item.done', output_index: 1, item: called },
        {
          type: 'response.completed',
          response: {
            status: 'completed',
            usage: { input_tokens: 20, input_tokens_details: { cached_tokens: 8 }, output_tokens: 5 },
          },
        },
      ),
    });
    const { chunks } = await ask({ kind: 'openai', api: 'responses' });
    expect(chunks).toMatchObject([
      { type: 'reasoning_end', opaque: { maker: 'cloud/m', data: kept } },
      { type: 'call_start', index: 0, name: 'shell' },
      { type: 'call_arguments', index: 0 },
      { type: 'end', how: 'finished', finishReason: 'tool_calls', usage: { input_tokens: 20, cached_tokens: 8 } },
    ]);
    const [request] = server.requests;
    expect(request?.path).toBe('/responses');
    expect(request?.body).toMatchObject({ store: false, include: ['reasoning.encrypted_content'], stream: true });
  });

  it.each([
    ['', '/openai/responses?api-version=2024-10-21'],
    ['/openai/v1', '/openai/v1/responses'],
  ])('names the deployment of Azure at "%s" as the model', async (path, expected) => {
    server.will({ pieces: send({ type: 'response.completed', response: { status: 'completed' } }) });
    const cloud = { deployment: 'blue' };
    await ask({ kind: 'azure', baseUrl: server.url + path, cloud, api: 'responses' });
    expect(server.requests).toMatchObject([{ path: expected, body: { model: 'blue' } }]);
  });

  it.each([
    ['response.failed', { status: 'failed', error: { code: 'server_error', message: 'Sorry' } }, 'Sorry'],
    ['response.incomplete', { status: 'incomplete', incomplete_details: { reason: 'other' } }, 'incomplete, other'],
  ])('takes %s for a broken reply with its cause', async (type, response, cause) => {
    server.will({ pieces: send({ type: 'response.output_text.delta', delta: 'Half' }, { type, response }) });
    const { end } = await ask({ kind: 'openai', api: 'responses' });
    expect(end).toMatchObject({ how: 'broken', error: { message: expect.stringContaining(cause) as string } });
  });
});
