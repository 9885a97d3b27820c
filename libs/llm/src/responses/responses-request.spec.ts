import { callId } from '@rondo/contract';
import type { ModelRequest } from '@rondo/domain';
import { requestTo } from '../testing/read-model-reply';
import { createInputs, needsResponses, toResponsesRequest } from './responses-request';

const ask = (request: ModelRequest) =>
  toResponsesRequest(request, { streams: true, profile: {}, toInputs: createInputs(request.model, {}) });

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
    const { input } = ask(requestTo('openai/gpt-6', { messages: [...history('openai/gpt-6')] }));
    expect(input).toEqual([
      { role: 'user', content: [{ type: 'input_text', text: 'Go.' }] },
      item,
      { type: 'function_call', call_id: 'call_1', name: 'shell', arguments: '{"a":1}' },
      { type: 'function_call_output', call_id: 'call_1', output: 'done' },
    ]);
  });

  it('sends the reasoning of another model to no one', () => {
    const { input } = ask(requestTo('openai/gpt-7', { messages: [...history('openai/gpt-6')] }));
    expect(input).toHaveLength(3);
  });

  it('names the effort, the tools and the longest reply', () => {
    const request = requestTo('openai/gpt-6', {
      tools: [shell],
      settings: { reasoning_effort: 'high', max_tokens: 100 },
    });
    expect(ask(request)).toMatchObject({
      model: 'gpt-6',
      store: false,
      reasoning: { effort: 'high' },
      max_output_tokens: 100,
      tools: [{ type: 'function', name: 'shell' }],
    });
  });

  it('asks a model that cannot reason for no reasoning, but for its sampling', () => {
    const settings = { reasoning_effort: 'high', temperature: 0.2, top_p: 0.9 } as const;
    const plain = ask(requestTo('openai/gpt-4.1', { settings }));
    expect(plain).toMatchObject({ temperature: 0.2, top_p: 0.9 });
    expect(plain).not.toHaveProperty('reasoning');
    expect(plain).not.toHaveProperty('include');
    expect(ask(requestTo('openai/gpt-6', { settings }))).not.toHaveProperty('temperature');
  });

  it.each([
    ['openai/gpt-6', { effort: 'none' }],
    ['openai/gpt-5', undefined],
  ])('tells %s not to reason where it knows that', (model, reasoning) => {
    expect(ask(requestTo(model, { settings: { enable_thinking: false } })).reasoning).toEqual(reasoning);
  });

  it('sends schemas without references', () => {
    const schema = { type: 'object', properties: { a: { $ref: '#/$defs/a' } }, $defs: { a: { type: 'string' } } };
    const { tools } = ask(requestTo('openai/gpt-6', { tools: [{ ...shell, schema }] }));
    expect(tools).toMatchObject([{ parameters: { type: 'object', properties: { a: { type: 'string' } } } }]);
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
