import OpenAI from 'openai';
import { type RunningDemoModel, runDemoModel } from '../testing/running-demo-model';

let demo: RunningDemoModel;
beforeAll(async () => {
  demo = await runDemoModel();
});
afterAll(() => demo.close());

const script = (turn: object): OpenAI.ChatCompletionMessageParam[] => [
  { role: 'user', content: `\`\`\`demo-script\n${JSON.stringify([turn])}\n\`\`\`` },
];
const calls = [
  { name: 'execute_command', arguments: { command: 'ls' } },
  { name: 'create_file', arguments: { file_path: 'a.txt', file_contents: 'ä👋' } },
];
const readChunks = async (turn: object, options: Partial<OpenAI.ChatCompletionCreateParamsStreaming> = {}) => {
  const request = { model: 'scripted', messages: script(turn), ...options, stream: true as const };
  const chunks: OpenAI.ChatCompletionChunk[] = [];
  for await (const chunk of await demo.openai.chat.completions.create(request)) chunks.push(chunk);
  return chunks;
};

it('splits the arguments of each call over chunks, after a chunk with its name', async () => {
  const chunks = await readChunks({ calls, chunk_chars: 3 });
  const deltas = chunks.flatMap((chunk) => chunk.choices[0]?.delta.tool_calls ?? []);

  for (const [index, call] of calls.entries()) {
    const [start, ...rest] = deltas.filter((delta) => delta.index === index);
    expect(start).toMatchObject({ type: 'function', id: expect.stringMatching(/^call_\w+$/) });
    expect(start?.function).toEqual({ name: call.name, arguments: '' });
    expect(rest.map((delta) => delta.function?.arguments).join('')).toBe(JSON.stringify(call.arguments));
    expect(rest.length).toBeGreaterThan(4);
  }
  expect(chunks.at(-1)?.choices[0]).toMatchObject({ finish_reason: 'tool_calls', delta: {} });
});

it('never splits a character', async () => {
  const chunks = await readChunks({ text: '👋🏽 ä 👋', chunk_chars: 1 });

  const pieces = chunks.flatMap((chunk) => chunk.choices[0]?.delta.content || []);
  expect(pieces).toEqual(['👋', '🏽', ' ', 'ä', ' ', '👋']);
});

it('ends with the usage only when asked', async () => {
  const turn = { text: 'Twelve chars', usage: { input_tokens: 100, cached_tokens: 64 } };
  const asked = await readChunks(turn, { stream_options: { include_usage: true } });
  const unasked = await readChunks(turn);

  expect(asked.at(-1)).toMatchObject({
    choices: [],
    usage: {
      prompt_tokens: 100,
      completion_tokens: 3,
      total_tokens: 103,
      prompt_tokens_details: { cached_tokens: 64 },
    },
  });
  expect(asked.slice(0, -1).every((chunk) => chunk.usage === null)).toBe(true);
  expect(unasked.every((chunk) => chunk.usage === undefined && chunk.choices.length === 1)).toBe(true);
});

it('streams the reasoning before the answer', async () => {
  const chunks = await readChunks({ reasoning: 'Hm.', text: 'Yes.' });

  expect(chunks.map((chunk) => chunk.choices[0]?.delta)).toEqual([
    { role: 'assistant', content: '', refusal: null },
    { reasoning_content: 'Hm.' },
    { content: 'Yes.' },
    {},
  ]);
});

it('sends the same reply without a stream', async () => {
  const completion = await demo.openai.chat.completions.create({
    model: 'scripted',
    messages: script({ reasoning: 'Hm.', text: 'Here.', calls }),
  });

  expect(completion).toMatchObject({
    object: 'chat.completion',
    model: 'scripted',
    choices: [
      {
        finish_reason: 'tool_calls',
        message: {
          role: 'assistant',
          content: 'Here.',
          reasoning_content: 'Hm.',
          tool_calls: calls.map((call) => ({
            type: 'function',
            function: { name: call.name, arguments: JSON.stringify(call.arguments) },
          })),
        },
      },
    ],
  });
});

it('gives every attempt the same reply, and the calls of each reply different ids', async () => {
  const ids = async (content: string) => {
    const messages = [...script({ calls }), { role: 'user' as const, content }];
    const { choices } = await demo.openai.chat.completions.create({ model: 'scripted', messages });
    return choices[0]?.message.tool_calls?.map(({ id }) => id) ?? [];
  };

  expect(await ids('one')).toEqual(await ids('one'));
  expect(new Set([...(await ids('one')), ...(await ids('two'))]).size).toBe(4);
});

it('bad-json cuts off its arguments, then makes the call correctly', async () => {
  const tools: OpenAI.ChatCompletionTool[] = [
    { type: 'function', function: { name: 'execute_command', parameters: { type: 'object' } } },
  ];
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Begin.' }];
  const received: string[] = [];
  for (let turn = 0; turn < 2; turn += 1) {
    const { choices } = await demo.openai.chat.completions.create({ model: 'bad-json', messages, tools });
    const [call] = choices[0]?.message.tool_calls ?? [];
    if (!choices[0] || call?.type !== 'function') throw new Error('There is no call');
    received.push(call.function.arguments);
    messages.push(choices[0].message, { role: 'tool', tool_call_id: call.id, content: 'Invalid JSON' });
  }

  expect(() => JSON.parse(received[0] ?? '')).toThrow();
  expect(JSON.parse(received[1] ?? '')).toMatchObject({ command: 'echo mended' });
});

it('paces a stream by the clock', async () => {
  const startedMs = performance.now();
  await readChunks({ text: 'abcdefghijk', chunk_chars: 1, pace_ms: 20 });
  const tookMs = performance.now() - startedMs;

  expect(tookMs).toBeGreaterThanOrEqual(195);
});

it('lists its models', async () => {
  const ids = [];
  for await (const model of demo.openai.models.list()) ids.push(model.id);

  expect(ids).toEqual(expect.arrayContaining(['coder', 'plain', 'scripted', 'error-429']));
});

it('accepts any key but the invalid one', async () => {
  const stranger = new OpenAI({ baseURL: `${demo.url}/v1`, apiKey: 'invalid', maxRetries: 0 });
  const reply = stranger.chat.completions.create({ model: 'plain', messages: [{ role: 'user', content: 'Hello' }] });

  await expect(reply).rejects.toMatchObject({ status: 401, code: 'invalid_api_key', type: 'invalid_request_error' });
});

it('refuses a violation with the provider’s message, and counts it', async () => {
  await fetch(`${demo.url}/violations`, { method: 'DELETE' });
  const messages: OpenAI.ChatCompletionMessageParam[] = [
    { role: 'user', content: 'Hello' },
    { role: 'tool', tool_call_id: 'call_1', content: 'unasked result' },
  ];
  const reply = demo.openai.chat.completions.create({ model: 'plain', messages });

  await expect(reply).rejects.toMatchObject({
    status: 400,
    type: 'invalid_request_error',
    param: 'messages.[1].tool_call_id',
    message: expect.stringContaining('No open call: call_1'),
  });
  const { total, data } = await demo.get('/violations');
  expect(total).toBe(1);
  expect(data[0]).toMatchObject({ protocol: 'openai', body: expect.stringContaining('unasked result') });
});
