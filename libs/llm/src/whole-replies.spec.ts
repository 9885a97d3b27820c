import { createModels } from './models';
import { readReply, requestTo } from './testing/read-model-reply';
import { ScriptedProvider } from './testing/scripted-provider';

const never = new AbortController().signal;

describe('a server that cannot stream', () => {
  let provider: ScriptedProvider;
  beforeAll(async () => {
    provider = await ScriptedProvider.start();
  });
  afterAll(() => provider.stop());

  const models = (streams: boolean) =>
    createModels({
      providers: [
        {
          name: 'acme',
          kind: 'openai',
          baseUrl: `${provider.url}/v1`,
          apiKey: 'sk-secret',
          headers: {},
          streams,
          models: [],
        },
      ],
      retries: { delayMs: 5 },
    });
  const whole = (message: object, finish_reason = 'stop') => ({
    headers: { 'content-type': 'application/json; charset=utf-8' },
    pieces: [
      ...(JSON.stringify({
        choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason }],
        usage: { prompt_tokens: 20, completion_tokens: 5 },
      }).match(/[^]{1,9}/g) ?? []),
    ],
  });
  const ask = (streams: boolean) => readReply(models(streams).stream(requestTo('acme/m'), never));

  it.each([false, true])('gives whole replies, whether it is known (streams: %s)', async (streams) => {
    provider.will(whole({ content: 'Hello.' }));

    const { text, end } = await ask(streams);

    expect(text).toBe('Hello.');
    expect(end).toMatchObject({ how: 'finished', finishReason: 'stop', usage: { input_tokens: 20, output_tokens: 5 } });
    expect(provider.requests[0]?.body['stream']).toBe(streams);
    expect(provider.requests[0]?.body['stream_options']).toEqual(streams ? { include_usage: true } : undefined);
  });

  it('calls tools', async () => {
    const calls = ['a', 'b'].map((id) => ({
      id,
      type: 'function',
      function: { name: 'read_file', arguments: `{"file_path":"${id}"}` },
    }));
    provider.will(whole({ content: null, tool_calls: calls }, 'tool_calls'));

    const { chunks, end } = await ask(false);

    expect(chunks.filter(({ type }) => type === 'call_start')).toMatchObject([{ index: 0 }, { index: 1 }]);
    expect(chunks.flatMap((chunk) => (chunk.type === 'call_arguments' ? chunk.text : []))).toEqual([
      '{"file_path":"a"}',
      '{"file_path":"b"}',
    ]);
    expect(end).toMatchObject({ how: 'finished', finishReason: 'tool_calls' });
  });

  it.each([
    ['is cut off', { headers: { 'content-type': 'application/json' }, pieces: ['{"choices": ['], then: 'reset' }],
    ['is not JSON', { headers: { 'content-type': 'application/json' }, pieces: ['Oh no'] }],
    ['has no end', { headers: { 'content-type': 'application/json' }, pieces: ['{"choices": []}'] }],
  ] as const)('is asked again when its reply %s', async (_, broken) => {
    provider.will(broken, whole({ content: 'Hello.' }));

    const { text, retries } = await ask(false);

    expect([text, retries.length]).toEqual(['Hello.', 1]);
  });
});
