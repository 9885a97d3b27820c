import Anthropic from '@anthropic-ai/sdk';
import { type RunningDemoModel, runDemoModel } from '../testing/running-demo-model';

let demo: RunningDemoModel;
beforeAll(async () => {
  demo = await runDemoModel();
});
afterAll(() => demo.close());

const request = (turn: object) => ({
  model: 'scripted',
  max_tokens: 100,
  messages: [{ role: 'user' as const, content: `\`\`\`demo-script\n${JSON.stringify([turn])}\n\`\`\`` }],
});
const calls = [
  { name: 'execute_command', arguments: { command: 'ls' } },
  { name: 'create_file', arguments: { file_path: 'a.txt', file_contents: 'ä👋' } },
];
const readEvents = async (turn: object) => {
  const events: Anthropic.MessageStreamEvent[] = [];
  for await (const event of await demo.anthropic.messages.create({ ...request(turn), stream: true }))
    events.push(event);
  return events;
};

it('opens, fills and closes one block after the other', async () => {
  const events = await readEvents({ reasoning: 'Hm.', text: 'Yes.', calls: [{ name: 'list_files', arguments: {} }] });

  const outline = events.map((event) => {
    switch (event.type) {
      case 'content_block_start':
        return `${event.index} ${event.content_block.type}`;
      case 'content_block_delta':
        return `${event.index} ${event.delta.type}`;
      case 'content_block_stop':
        return `${event.index} stop`;
      case 'message_start':
      case 'message_delta':
      case 'message_stop':
        return event.type;
    }
  });
  expect(outline).toEqual([
    'message_start',
    ...['0 thinking', '0 thinking_delta', '0 signature_delta', '0 stop'],
    ...['1 text', '1 text_delta', '1 stop'],
    ...['2 tool_use', '2 input_json_delta', '2 stop'],
    ...['message_delta', 'message_stop'],
  ]);
});

it('splits the input of a call over deltas', async () => {
  const events = await readEvents({ calls, chunk_chars: 3 });

  for (const [index, call] of calls.entries()) {
    const pieces = events.flatMap((event) =>
      event.type === 'content_block_delta' && event.index === index && event.delta.type === 'input_json_delta'
        ? [event.delta.partial_json]
        : [],
    );
    expect(pieces.length).toBeGreaterThan(4);
    expect(pieces.join('')).toBe(JSON.stringify(call.arguments));
  }
});

it('sends the same reply with and without a stream', async () => {
  const given = request({ reasoning: 'Hm.', text: 'Here.', calls });
  const streamed = await demo.anthropic.messages.stream(given).finalMessage();
  const whole = await demo.anthropic.messages.create(given);

  expect(streamed.content).toEqual(whole.content.map((block) => expect.objectContaining(block)));
  expect(streamed.usage).toMatchObject(whole.usage);
  expect([streamed.id, streamed.stop_reason]).toEqual([whole.id, whole.stop_reason]);
  expect(whole.content.map(({ type }) => type)).toEqual(['thinking', 'text', 'tool_use', 'tool_use']);
  expect(whole.stop_reason).toBe('tool_use');
});

it('counts cached tokens separately', async () => {
  const turn = { text: 'Twelve chars', usage: { input_tokens: 100, cached_tokens: 64 } };
  const { usage } = await demo.anthropic.messages.stream(request(turn)).finalMessage();

  expect(usage).toMatchObject({ input_tokens: 36, cache_read_input_tokens: 64, output_tokens: 3 });
});

it('sends a ping', async () => {
  const response = await demo.anthropic.messages.create({ ...request({ text: 'Hello' }), stream: true }).asResponse();

  expect(await response.text()).toContain('event: ping\ndata: {"type":"ping"}\n\n');
});

it('bad-json cuts off the input of its call', async () => {
  const stream = await demo.anthropic.messages.create({
    model: 'bad-json',
    max_tokens: 100,
    stream: true,
    messages: [{ role: 'user', content: 'Begin.' }],
    tools: [{ name: 'execute_command', input_schema: { type: 'object' } }],
  });
  let json = '';
  for await (const event of stream) {
    if (event.type === 'content_block_delta' && event.delta.type === 'input_json_delta')
      json += event.delta.partial_json;
  }

  expect(json).toBe('{"command": "echo broken');
});

it('accepts only thinking that it signed, as Anthropic does', async () => {
  const { content } = await demo.anthropic.messages.create({ ...request({ reasoning: 'Hm.', text: 'Yes.' }) });
  const goOn = (signature?: string) =>
    demo.anthropic.messages.create({
      model: 'plain',
      max_tokens: 100,
      messages: [
        { role: 'user', content: 'Think.' },
        {
          role: 'assistant',
          content: content.map((block) => (block.type === 'thinking' && signature ? { ...block, signature } : block)),
        },
        { role: 'user', content: 'Go on.' },
      ],
    });

  await expect(goOn()).resolves.toBeDefined();
  await expect(goOn('forged')).rejects.toThrow('Invalid `signature` in `thinking` block');
});

it('lists its models', async () => {
  const ids = [];
  for await (const model of demo.anthropic.models.list()) ids.push(model.id);

  expect(ids).toEqual(expect.arrayContaining(['coder', 'plain', 'scripted', 'error-429']));
});

it.each([
  ['invalid', 'plain', 401, 'authentication_error'],
  ['any', 'no-such-script', 404, 'not_found_error'],
  ['any', 'overloaded', 529, 'overloaded_error'],
  ['any', 'error-429', 429, 'rate_limit_error'],
  ['any', 'error-500', 500, 'api_error'],
])('with the key %p the model %p is refused with %p', async (apiKey, model, status, type) => {
  const client = new Anthropic({ baseURL: demo.url, apiKey, maxRetries: 0 });
  const reply = client.messages.create({ model, max_tokens: 9, messages: [{ role: 'user', content: 'Hello' }] });

  await expect(reply).rejects.toMatchObject({ status, error: { type: 'error', error: { type } } });
});
