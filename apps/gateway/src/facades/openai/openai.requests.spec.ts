import { accountId } from '@rondo/contract';
import { findRefusedRoute, openAiCoverage } from '@rondo/contract/api';
import { FacadeModels } from '../facade-models';
import { toChatHash } from './known-responses';
import { OpenAiConversations } from './openai-conversations';
import { toItemList } from './openai.objects';
import { readChatRequest, readResponseRequest, toInput, toResponseSettings } from './openai.requests';

const given = { role: 'assistant', id: 'msg_1_2', type: 'message', content: [{ type: 'output_text', text: 'One.' }] };
const user = (text: string) => ({ role: 'user', content: [{ type: 'input_text', text }] });
const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const image = { type: 'input_image', image_url: `data:image/png;base64,${pixel}` };
const textIn = (read: Parameters<typeof toInput>[0]) =>
  toInput(read).map((block) => (block.type === 'text' ? block.text : block.type));

describe('requests for responses', () => {
  it('say what is new after the items that Rondo gave out', () => {
    const read = readResponseRequest({ input: [user('First?'), given, user('And now?')] });
    expect(read.knownRun).toBe('run_1');
    expect(textIn(read)).toEqual(['And now?']);
  });

  it('have the outputs of calls, whose items may have lost their ids', () => {
    const call = (id: string) => ({ type: 'function_call', call_id: id, name: 'open_page', arguments: '{}' });
    const output = (id: string) => ({ type: 'function_call_output', call_id: id, output: `of ${id}` });
    const ids = ['call_1', 'call_2'];
    const input = [user('Look.'), { type: 'reasoning', summary: [] }, ...ids.flatMap((id) => [call(id), output(id)])];
    const { history, content, outputs } = readResponseRequest({ input });
    expect(history).toEqual([{ role: 'user', text: 'Look.' }]);
    expect(content).toEqual([]);
    expect([...outputs.keys()]).toEqual(ids);
  });

  it('have the instructions that come before the items that Rondo gave out', () => {
    const system = { role: 'system', content: 'Be kind.' };
    const read = readResponseRequest({ input: [system, user('First?'), given, user('And now?')] });
    expect(read.instructions).toBe('Be kind.');
    expect(textIn(read)).toEqual(['And now?']);
  });

  it('have a transcript of what Rondo does not know', () => {
    const read = readResponseRequest({ input: [user('First?'), { ...given, id: 'other' }, user('And now?')] });
    expect(read.knownRun).toBeUndefined();
    expect(textIn(read)).toEqual([expect.stringContaining('User: First?\n\nAssistant: One.'), 'And now?']);
  });

  it('have the images of what Rondo does not know after its transcript', () => {
    const other = { ...given, id: 'other' };
    const both = [image, { type: 'input_text', text: 'And this?' }, image];
    const input = [{ role: 'user', content: [image] }, other, { role: 'user', content: both }, other, user('Why?')];
    const [transcript, ...rest] = textIn(readResponseRequest({ input }));
    expect(transcript).toContain('User: [image 1]\n\nAssistant: One.\n\nUser: And this? [image 2] [image 3]\n\n');
    expect(transcript).toContain('Its images follow, and then the newest message.');
    expect(rest).toEqual(['image', 'image', 'image', 'Why?']);
  });

  it('have instructions, outputs of calls, and images', () => {
    const read = readResponseRequest({
      instructions: 'Be short.',
      input: [
        { role: 'developer', content: 'Be kind.' },
        { role: 'user', content: [image] },
        { type: 'function_call_output', call_id: 'call_1', output: [{ type: 'input_text', text: 'Rain.' }] },
      ],
    });
    expect(read.instructions).toBe('Be short.\n\nBe kind.');
    expect(read.content).toMatchObject([{ type: 'image', source: { media_type: 'image/png' } }]);
    expect([...read.outputs]).toEqual([['call_1', { output: 'Rain.' }]]);
  });

  it.each([
    ['input.0', [{ type: 'computer_call_output' }]],
    ['input.0.content.0', [{ role: 'user', content: [{ type: 'input_file', file_id: 'file_1' }] }]],
    [
      'input.0.content.0.image_url',
      [{ role: 'user', content: [{ type: 'input_image', image_url: 'https://x/y.png' }] }],
    ],
    ['input.0.content.1', [{ role: 'developer', content: [{ type: 'input_text', text: 'Look:' }, image] }]],
  ])('are refused by the name %s', (field, input) => {
    expect(() => readResponseRequest({ input })).toThrow(`${field}: `);
  });

  it('become settings of the run', () => {
    const tools = [
      { type: 'function' as const, name: 'open_page', parameters: { type: 'object' }, strict: true },
      { type: 'function' as const, name: 'ask' },
    ];
    const format = { type: 'json_schema' as const, name: 'city', schema: { type: 'object' } };
    const request = { tools, max_output_tokens: 9, reasoning: { effort: 'low' as const }, text: { format } };
    expect(toResponseSettings(request)).toEqual({
      caller_tools: [{ name: 'open_page', description: 'open_page', parameters: { type: 'object' } }],
      llm: {
        max_tokens: 9,
        reasoning_effort: 'low',
        response_format: { type: 'json_schema', json_schema: { name: 'city', schema: { type: 'object' } } },
      },
    });
  });
});

describe('requests for chats', () => {
  it('have the results of the newest calls', () => {
    const call = { id: 'call_2', function: { name: 'open_page', arguments: '{}' } };
    const { outputs, history, content } = readChatRequest({
      messages: [
        { role: 'user', content: 'Look.' },
        { role: 'assistant', content: 'I look.', tool_calls: [{ ...call, id: 'call_1' }] },
        { role: 'tool', tool_call_id: 'call_1', content: 'Old.' },
        { role: 'assistant', tool_calls: [call] },
        { role: 'tool', tool_call_id: 'call_2', content: 'New.' },
      ],
    });
    expect([...outputs]).toEqual([['call_2', { output: 'New.' }]]);
    expect(history).toEqual([
      { role: 'user', text: 'Look.' },
      { role: 'assistant', text: 'I look.' },
    ]);
    expect(content).toEqual([]);
  });
});

describe('a chat', () => {
  const looks = (url: string) =>
    readChatRequest({
      messages: [
        { role: 'user', content: [{ type: 'image_url', image_url: { url } }] },
        { role: 'assistant', content: 'Yes.' },
      ],
    }).history;
  const cat = looks(image.image_url);

  it('is told from another one of the same words by its person and its images', () => {
    const names = [
      toChatHash({ model: 'demo/plain' }, cat),
      toChatHash({ model: 'demo/plain', user: 'ada' }, cat),
      toChatHash({ model: 'demo/plain', safety_identifier: 'bob' }, cat),
      toChatHash({ model: 'demo/plain' }, looks('data:image/png;base64,iVBORw0KGgoAAAA=')),
    ];
    expect(new Set(names).size).toBe(names.length);
    expect(toChatHash({ model: 'demo/plain', safety_identifier: 'ada', user: 'x' }, cat)).toBe(names[1]);
  });

  it('has the name that it had before there were persons and images', () => {
    const said = [{ role: 'user', text: 'Hello' }] as const;
    expect(toChatHash({ model: 'demo/plain', user: '' }, said)).toBe(
      '71f6bda35f819cd0488665c39d88992c43f514ba86ccafd1174f90754a9642d1',
    );
  });
});

describe('a page of items', () => {
  const items = ['a', 'b', 'c'].map((id) => ({ id, type: 'message', status: 'completed' as const }));
  const list = (after?: string) => toItemList(items, { limit: 2, order: 'asc', after });

  it('begins after the item that is named, or with the first', () => {
    expect(list()).toMatchObject({ data: [{ id: 'a' }, { id: 'b' }], has_more: true });
    expect(list('b')).toMatchObject({ data: [{ id: 'c' }], has_more: false });
  });

  it('is refused after an item that is not there, so that no client reads the first page for ever', () => {
    expect(() => list('x')).toThrow('after: there is no item x');
  });
});

describe('an item of a conversation', () => {
  const conversations = new OpenAiConversations({} as never);
  it.each([
    ['items.1.content.0', { role: 'user', content: [{ type: 'input_file', file_id: 'file_1' }] }],
    ['items.1', { role: 'system', content: 'Be brief.' }],
    ['items.1.0.text', { role: 'user', content: 'x'.repeat(1_000_001) }],
    ['items.1', { type: 'computer_call_output' }],
  ])('is refused by the name that its client has for it: %s', async (name, item) => {
    const given = { items: [{ role: 'user', content: 'Hello?' }, item] };
    await expect(conversations.create(accountId.parse('acc_1'), given)).rejects.toThrow(`${name}: `);
  });
});

describe('a model that is asked for', () => {
  const offered = [
    { id: 'demo/plain', allowed: true, aliases: ['usual'] },
    { id: 'openai/gpt-5.5', allowed: true, aliases: [] },
    { id: 'demo/dear', allowed: false, aliases: ['dear'] },
  ];
  const terms = { toTerms: () => Promise.resolve({} as never) };
  const models = new FacadeModels({ listFor: () => offered as never }, terms);
  const find = async (name: string) => (await models.find(accountId.parse('acc_1'), name, 'openai'))?.id;

  it.each([
    ['demo/plain', 'demo/plain'],
    ['usual', 'demo/plain'],
    ['gpt-5.5', 'openai/gpt-5.5'],
    ['openai/gpt-5.5', 'openai/gpt-5.5'],
    ['plain', undefined],
    ['dear', undefined],
  ])('has the names that a request may have: %s', async (name, id) => {
    expect(await find(name)).toBe(id);
  });
});

describe('routes that are not served', () => {
  it.each([
    ['POST', '/embeddings', 'Rondo runs agents'],
    ['GET', '/vector_stores/vs_1/files', 'there are none'],
    ['GET', '/chat/completions/chatcmpl_1', 'answers of chats are runs: read them at `/v1/runs`'],
    ['POST', '/conversations/conv_1', 'the metadata of a thread does not change'],
    ['POST', '/chat/completions', undefined],
    ['GET', '/nothing', undefined],
  ])('%s %s: %s', (method, path, why) => {
    expect(findRefusedRoute(openAiCoverage, method, path)).toBe(why);
  });
});
