import type Anthropic from '@anthropic-ai/sdk';
import { type LlmSettings, type ReasoningBlock, callId } from '@rondo/contract';
import type { ModelMessage, ModelRequest } from '@rondo/domain';
import fc from 'fast-check';
import { requestTo } from '../testing/read-model-reply';
import { histories, imagesOfAllKinds } from '../testing/model-histories';
import { ProviderError } from '../provider-error';
import { createAnthropicTurns } from './anthropic-messages';
import { AnthropicProtocol } from './anthropic-protocol';
import { toAnthropicRequest, toMaker } from './anthropic-request';

const ask = (request: ModelRequest) =>
  toAnthropicRequest(request, { toTurns: createAnthropicTurns({ maker: toMaker(request.model), rules: {} }) });

const marked = { cache_control: { type: 'ephemeral' } };
const shell = { name: 'shell', description: 'Runs a command.', schema: { type: 'object', properties: {} } };
const [first, second] = ['call_1', 'call_2'].map((id) => callId.parse(id)) as [never, never];

/** The request without the fields that are the same in all tests. */
const createSettings = (model: string, settings: object, messages?: ModelMessage[]): object => {
  const request = requestTo(`anthropic/${model}`, { settings, tools: [shell], ...(messages && { messages }) });
  const alike = ['model', 'messages', 'stream', 'system', 'tools'];
  return Object.fromEntries(Object.entries(ask(request)).filter(([name]) => !alike.includes(name)));
};

const calling = (...thought: ReasoningBlock[]): ModelMessage[] => [
  { role: 'user', content: [{ type: 'text', text: 'Look' }] },
  {
    role: 'assistant',
    content: [
      ...thought,
      { type: 'tool_call', id: first, name: 'see', arguments: { n: 1 } },
      { type: 'tool_call', id: second, name: 'see', arguments: {} },
    ],
  },
  {
    role: 'tool',
    results: [
      {
        tool_call_id: first,
        text: 'seen',
        is_error: false,
        image: { type: 'base64', media_type: 'image/png', data: 'aGk=' },
      },
      { tool_call_id: second, text: 'blind', is_error: true },
    ],
  },
  { role: 'user', content: [{ type: 'text', text: 'And?' }] },
];

describe('toAnthropicRequest', () => {
  it('has the system prompt and the tools apart from the conversation', () => {
    expect(ask(requestTo('anthropic/claude-sonnet-4-5', { tools: [shell] }))).toEqual({
      model: 'claude-sonnet-4-5',
      max_tokens: 64_000,
      stream: true,
      system: [{ type: 'text', text: 'You are terse.', ...marked }],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello?', ...marked }] }],
      tools: [{ name: 'shell', description: 'Runs a command.', input_schema: { type: 'object', properties: {} } }],
    });
  });

  it('merges results with the user turn after them, results first, and sends a model its own signed thinking back unchanged', () => {
    const thoughts = [
      { type: 'reasoning' as const, text: 'Hm', opaque: { maker: 'anthropic/m', data: { signature: 'sig' } } },
      { type: 'reasoning' as const, text: '', opaque: { maker: 'anthropic/m', data: { data: 'hidden' } } },
      { type: 'reasoning' as const, text: 'of another', opaque: { maker: 'anthropic/n', data: { signature: 's' } } },
      { type: 'reasoning' as const, text: 'unsigned' },
      { type: 'reasoning' as const, text: 'stored by an earlier version', signature: 'old' },
    ];
    const { messages } = ask(requestTo('anthropic/m', { messages: calling(...thoughts) }));

    expect(messages.slice(1)).toEqual([
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Hm', signature: 'sig' },
          { type: 'redacted_thinking', data: 'hidden' },
          { type: 'thinking', thinking: 'stored by an earlier version', signature: 'old' },
          { type: 'tool_use', id: first, name: 'see', input: { n: 1 } },
          { type: 'tool_use', id: second, name: 'see', input: {}, ...marked },
        ],
      },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: first,
            content: [
              { type: 'text', text: 'seen' },
              { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } },
            ],
          },
          { type: 'tool_result', tool_use_id: second, content: [{ type: 'text', text: 'blind' }], is_error: true },
          { type: 'text', text: 'And?', ...marked },
        ],
      },
    ]);
  });

  it('sends images as bytes, and a text without the URL for an image that is gone or was not loaded', () => {
    expect(ask(requestTo('anthropic/m', { messages: [imagesOfAllKinds] })).messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } },
          { type: 'text', text: '(An image that was not loaded.)' },
          { type: 'text', text: '(An image that is not kept any more.)', ...marked },
        ],
      },
    ]);
  });

  it('sends at most one sampling parameter, within the range of Anthropic', () => {
    expect(createSettings('m', { temperature: 1.5, top_p: 0.5 })).toEqual({ max_tokens: 8192, temperature: 1 });
    expect(createSettings('m', { top_p: 0.5, max_tokens: 10 })).toEqual({ max_tokens: 10, top_p: 0.5 });
    expect(createSettings('claude-opus-4-7', { temperature: 0 })).toEqual({ max_tokens: 64_000 });
  });

  it('gives thinking a budget of at most half the longest reply, and sends no temperature', () => {
    const thinking = (budget_tokens: number) => ({ type: 'enabled', budget_tokens });
    const model = 'claude-sonnet-4-5';
    expect(createSettings(model, { enable_thinking: true, temperature: 0 })).toEqual({
      max_tokens: 64_000,
      thinking: thinking(4096),
    });
    expect(createSettings(model, { reasoning_effort: 'high' })).toMatchObject({ thinking: thinking(20_480) });
    expect(createSettings(model, { thinking_budget: 2000 })).toMatchObject({ thinking: thinking(2000) });
    expect(createSettings(model, { thinking_budget: 9000, max_tokens: 5000 })).toMatchObject({
      thinking: thinking(2500),
    });
    expect(createSettings(model, { enable_thinking: true, max_tokens: 2048 })).toMatchObject({
      thinking: thinking(1024),
    });
    expect(createSettings(model, { enable_thinking: true, max_tokens: 2047 })).toEqual({ max_tokens: 2047 });
    expect(createSettings(model, { thinking_budget: 9000, max_tokens: 900 })).toEqual({ max_tokens: 900 });
    expect(createSettings(model, { reasoning_effort: 'high', enable_thinking: false })).toEqual({ max_tokens: 64_000 });
  });

  it('does not enable thinking within a turn that began without signed thinking (I6)', () => {
    const settings = { enable_thinking: true };
    const opaque = { maker: 'anthropic/claude-sonnet-4-5', data: { signature: 'sig' } };
    const begun = calling({ type: 'reasoning', text: 'Hm', opaque });
    expect(createSettings('claude-sonnet-4-5', settings, begun)).toHaveProperty('thinking');
    expect(createSettings('claude-sonnet-4-5', settings, calling())).not.toHaveProperty('thinking');

    const [asked, answered] = [begun.slice(0, 3), calling().slice(1, 3)];
    expect(createSettings('claude-sonnet-4-5', settings, [...asked, ...answered])).toHaveProperty('thinking');
    expect(createSettings('claude-sonnet-4-5', settings, [...begun, ...answered])).not.toHaveProperty('thinking');
  });

  it('sends newer models an effort instead of a budget', () => {
    const adaptive = { type: 'adaptive', display: 'summarized' };
    expect(createSettings('claude-opus-4-6', {})).not.toHaveProperty('thinking');
    expect(createSettings('claude-opus-4-6', { reasoning_effort: 'low' })).toMatchObject({
      thinking: adaptive,
      output_config: { effort: 'low' },
    });
    expect(createSettings('claude-sonnet-5', {})).toMatchObject({ thinking: adaptive });
    expect(createSettings('claude-sonnet-5', { enable_thinking: false })).toMatchObject({
      thinking: { type: 'disabled' },
    });
  });

  it('asks newer models for their least where a run wants no thoughts, which are charged', () => {
    for (const settings of [{ enable_thinking: false }, { reasoning_effort: 'none' }]) {
      expect(createSettings('claude-opus-5-5', settings)).toMatchObject({
        thinking: { type: 'adaptive', display: 'summarized' },
        output_config: { effort: 'low' },
      });
      const least = createSettings('claude-sonnet-5-5', settings);
      expect(least).toMatchObject({ thinking: { type: 'between_tools' } });
      expect(least).not.toHaveProperty('output_config');
    }
    expect(createSettings('claude-sonnet-5-5', {})).toMatchObject({ thinking: { type: 'adaptive' } });
  });

  it('requests a reply in a JSON schema, next to the effort, from a model that supports it', () => {
    const schema = { type: 'object', properties: {}, additionalProperties: false };
    const response_format = { type: 'json_schema', json_schema: { name: 'x', strict: true, schema } };
    const output_config = { format: { type: 'json_schema', schema } };
    expect(createSettings('claude-haiku-4-5-20251001', { response_format })).toEqual({
      max_tokens: 64_000,
      output_config,
    });
    expect(createSettings('claude-opus-4-6', { response_format, reasoning_effort: 'low' })).toMatchObject({
      output_config: { effort: 'low', ...output_config },
    });
    for (const older of ['claude-sonnet-4-20250514', 'claude-opus-4-1', 'claude-3-7-sonnet-20250219', 'm']) {
      expect(createSettings(older, { response_format })).not.toHaveProperty('output_config');
    }
  });

  it.each([{ type: 'json_object' }, { type: 'text' }, { type: 'json_schema', json_schema: { name: 'x' } }])(
    'omits a format that Anthropic does not have: %j',
    (response_format) => {
      expect(createSettings('claude-sonnet-4-5', { response_format })).toEqual({ max_tokens: 64_000 });
    },
  );

  it('sends the tool choice, but never forces a thinking model', () => {
    expect(createSettings('m', { tool_choice: 'required' })).toMatchObject({ tool_choice: { type: 'any' } });
    expect(createSettings('m', { tool_choice: 'none' })).toMatchObject({ tool_choice: { type: 'none' } });
    expect(createSettings('claude-opus-5-5', { tool_choice: 'required' })).toMatchObject({
      tool_choice: { type: 'auto' },
    });
  });

  it('declares the tools of earlier calls when none is offered any more (I6)', () => {
    const { tools, tool_choice } = ask(requestTo('anthropic/m', { messages: calling() }));
    expect(tools).toMatchObject([{ name: 'see', input_schema: { type: 'object' } }]);
    expect(tool_choice).toEqual({ type: 'none' });
  });

  it('is valid for any history (I6)', () => {
    fc.assert(
      fc.property(histories, (messages) => checkMessages(ask(requestTo('anthropic/m', { messages })).messages)),
      { numRuns: 300 },
    );
  });
});

/** Anthropic's rules: roles alternate, nothing is empty, and the next user turn starts with every result exactly once. */
function checkMessages(messages: readonly Anthropic.MessageParam[]): void {
  let open: string[] = [];
  messages.forEach(({ role, content }, at) => {
    expect(role).toBe(at % 2 === 0 ? 'user' : 'assistant');
    const blocks = content as Anthropic.ContentBlockParam[];
    expect(blocks).not.toHaveLength(0);
    const results = blocks.flatMap((block) => (block.type === 'tool_result' ? [block.tool_use_id] : []));
    expect(blocks.slice(0, results.length).every(({ type }) => type === 'tool_result')).toBe(true);
    expect(results).toEqual(open);
    open = blocks.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));
    blocks.forEach(checkBlock);
  });
  expect(messages.at(-1)?.role).toBe('user');
}

function checkBlock(block: Anthropic.ContentBlockParam): void {
  if (block.type === 'text') expect(block.text.trim()).not.toBe('');
  if (block.type === 'tool_use') expect(block.name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
  if (block.type === 'thinking') expect(block.signature).not.toBe('');
  if (block.type === 'tool_result') (block.content as Anthropic.ContentBlockParam[]).forEach(checkBlock);
}

describe('a model of Claude', () => {
  const thinking = (model: string) => ask(requestTo(model, { settings: { enable_thinking: true } })).thinking;

  it.each(['global.anthropic.claude-opus-4-7', 'anthropic/claude-opus-4.7', 'aws.claude-opus-4.8'])(
    'is known by the name %s',
    (id) => {
      expect(thinking(`gateway/${id}`)).toMatchObject({ type: 'adaptive' });
    },
  );

  const learned = (message: string, settings: LlmSettings, id = 'best') => {
    const provider = { name: 'gateway', kind: 'anthropic', apiKey: 'k', headers: {}, models: [] } as const;
    const protocol = new AnthropicProtocol(provider);
    const request = requestTo(`gateway/${id}`, { settings, tools: [shell] });
    const error = new ProviderError('invalid_request', message);
    expect(protocol.learn(request, error)).toBe(true);
    expect(protocol.learn(request, error)).toBe(false);
    return protocol.request(request).params;
  };

  it.each([
    ['thinking.adaptive.display: Extra inputs are not permitted', { type: 'adaptive' }, { effort: 'high' }],
    ['output_config: Extra inputs are not permitted', { type: 'adaptive', display: 'summarized' }, undefined],
    ['This model does not support the effort parameter.', { type: 'adaptive', display: 'summarized' }, undefined],
  ])('is asked without what its host refuses: %s', (message, thinks, output_config) => {
    const { thinking: asked, output_config: config } = learned(
      message,
      { reasoning_effort: 'high' },
      'claude-opus-4-8',
    ) as unknown as Record<string, unknown>;
    expect([asked, config]).toEqual([thinks, output_config]);
  });

  it('of an unknown name is known by what it refuses', () => {
    const settings = { enable_thinking: true, temperature: 0.5 };
    expect(learned('"thinking.type.enabled" is not supported for this model.', settings)).toMatchObject({
      thinking: { type: 'adaptive' },
    });
    expect(
      learned('"thinking.type.disabled" is not supported for this model.', { enable_thinking: false }),
    ).toMatchObject({ thinking: { type: 'adaptive' }, output_config: { effort: 'low' } });
    expect(
      learned('tool_choice: type "tool" and "any" are not supported for this model.', { tool_choice: 'required' }),
    ).toMatchObject({ tool_choice: { type: 'auto' } });
    expect(learned('max_tokens: 8192 > 4096, which is the maximum allowed', {})).toMatchObject({ max_tokens: 4096 });
    expect(learned('max_tokens: 9000 > 4096, which', { max_tokens: 9000 })).toMatchObject({ max_tokens: 4096 });
    expect(learned('`temperature` is deprecated for this model.', { temperature: 0.5 })).not.toHaveProperty(
      'temperature',
    );
    expect(JSON.stringify(learned('system.0.cache_control: Extra inputs are not permitted', {}))).not.toContain(
      'cache_control',
    );
  });
});
