import { findRefusedRoute, openAiCoverage } from '@rondo/contract/api';
import { readChatRequest, readResponseRequest, toInput, toResponseSettings } from './openai.requests';

const given = { role: 'assistant', id: 'msg_1_2', type: 'message', content: [{ type: 'output_text', text: 'One.' }] };
const user = (text: string) => ({ role: 'user', content: [{ type: 'input_text', text }] });
const textIn = (read: Parameters<typeof toInput>[0]) =>
  toInput(read).map((block) => (block.type === 'text' ? block.text : block.type));

describe('requests for responses', () => {
  it('say what is new after the items that Rondo gave out', () => {
    const read = readResponseRequest({ input: [user('First?'), given, user('And now?')] });
    expect(read.knownRun).toBe('run_1');
    expect(textIn(read)).toEqual(['And now?']);
  });

  it('have a transcript of what Rondo does not know', () => {
    const read = readResponseRequest({ input: [user('First?'), { ...given, id: 'other' }, user('And now?')] });
    expect(read.knownRun).toBeUndefined();
    expect(textIn(read)).toEqual([expect.stringContaining('User: First?\n\nAssistant: One.'), 'And now?']);
  });

  it('have instructions, outputs of calls, and images', () => {
    const source = 'data:image/png;base64,iVBORw0KGgo=';
    const read = readResponseRequest({
      instructions: 'Be short.',
      input: [
        { role: 'developer', content: 'Be kind.' },
        { role: 'user', content: [{ type: 'input_image', image_url: source }] },
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
    expect(toResponseSettings(request, 'Be short.')).toEqual({
      agent: { system_prompt: 'Be short.' },
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
