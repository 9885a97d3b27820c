import { callId } from '@rondo/contract';
import { requestTo } from '../testing/read-model-reply';
import { needsResponses, toResponsesRequest } from './responses-request';

const shell = { name: 'shell', description: 'Runs a command.', schema: { type: 'object', properties: {} } };
const id = callId.parse('call_1');
const item = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'c2VjcmV0' };

const history = (maker: string) =>
  [
    { role: 'user', content: [{ type: 'text', text: 'Go.' }] },
    {
      role: 'assistant',
      content: [
        { type: 'reasoning', text: '', opaque: { maker, data: item } },
        { type: 'tool_call', id, name: 'shell', arguments: { a: 1 } },
      ],
    },
    { role: 'tool', results: [{ tool_call_id: id, text: 'done', is_error: false }] },
  ] as const;

describe('toResponsesRequest', () => {
  it('sends reasoning back to the model that gave it, before its call', () => {
    const { input } = toResponsesRequest(requestTo('openai/gpt-6', { messages: [...history('openai/gpt-6')] }));
    expect(input).toEqual([
      { role: 'user', content: [{ type: 'input_text', text: 'Go.' }] },
      item,
      { type: 'function_call', call_id: 'call_1', name: 'shell', arguments: '{"a":1}' },
      { type: 'function_call_output', call_id: 'call_1', output: 'done' },
    ]);
  });

  it('sends the reasoning of another model to no one', () => {
    const { input } = toResponsesRequest(requestTo('openai/gpt-7', { messages: [...history('openai/gpt-6')] }));
    expect(input).toHaveLength(3);
  });

  it('names the effort, the tools and the longest reply', () => {
    const request = requestTo('openai/gpt-6', {
      tools: [shell],
      settings: { reasoning_effort: 'high', max_tokens: 100 },
    });
    expect(toResponsesRequest(request)).toMatchObject({
      model: 'gpt-6',
      store: false,
      reasoning: { effort: 'high' },
      max_output_tokens: 100,
      tools: [{ type: 'function', name: 'shell' }],
    });
  });
});

describe('needsResponses', () => {
  it.each([
    ['openai/gpt-5.4', [shell], { reasoning_effort: 'high' }, true],
    ['openai/gpt-5.4', [shell], {}, false],
    ['openai/gpt-5.4', [], { reasoning_effort: 'high' }, false],
    ['openai/gpt-5', [shell], { reasoning_effort: 'high' }, false],
    ['openai/gpt-5.4', [shell], { reasoning_effort: 'high', enable_thinking: false }, false],
  ] as const)('of %s is decided by its tools and effort', (model, tools, settings, needs) => {
    expect(needsResponses(requestTo(model, { tools: [...tools], settings }))).toBe(needs);
  });
});
