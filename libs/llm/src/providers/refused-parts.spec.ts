import { callId as callIds } from '@rondo/contract';
import type { ModelMessage, ProviderSettings } from '@rondo/domain';
import { AnthropicProtocol } from '../anthropic/anthropic-protocol';
import { OpenAiProtocol } from '../openai/openai-protocol';
import { ProviderError } from '../provider-error';
import { ResponsesProtocol } from '../responses/responses-protocol';
import { requestTo } from '../testing/read-model-reply';
import type { WireProtocol } from '../wire-protocol';

const provider = (name: string, kind: ProviderSettings['kind'] = 'openai'): ProviderSettings => ({
  name,
  kind,
  apiKey: 'k',
  headers: {},
  models: [],
});
const refused = (message: string) => new ProviderError('invalid_request', message);
const sent = (protocol: WireProtocol, request: ReturnType<typeof requestTo>): string =>
  JSON.stringify(protocol.request(request).params);

const callId = callIds.parse('call_01hzzzzzzzzzzzzzzzzzzzzzzz');
const picture = (data: string) => ({ type: 'base64', media_type: 'image/png', data }) as const;
const tool = { name: 'look', description: 'Looks.', schema: { type: 'object', properties: {} } };

const protocols: [string, () => WireProtocol][] = [
  ['acme/m', () => new OpenAiProtocol(provider('acme'))],
  ['openai/gpt-5.2', () => new ResponsesProtocol(provider('openai'))],
  ['anthropic/claude-sonnet-4-5', () => new AnthropicProtocol(provider('anthropic', 'anthropic'))],
];

describe('images', () => {
  const showing = (model: string, ...images: string[]) =>
    requestTo(model, {
      messages: images.map((data) => ({ role: 'user', content: [{ type: 'image', source: picture(data) }] })),
    });
  const shown = (protocol: WireProtocol, request: ReturnType<typeof requestTo>): string[] =>
    ['image-a', 'image-b', 'image-c'].filter((data) => sent(protocol, request).includes(data));

  it.each(protocols)(
    'of %s: the newest is left out when one is refused, and all if that did not help',
    (model, create) => {
      const protocol = create();
      const request = showing(model, 'image-a', 'image-b');
      const refusal = refused('messages.1.content.0.image.source.base64.data: the image dimensions exceed 8000 pixels');

      expect(protocol.learn?.(request, refusal)).toBe(true);
      expect(shown(protocol, request)).toEqual(['image-a']);
      expect(sent(protocol, request)).toContain('the provider of the model refused it');
      expect(protocol.learn?.(request, refusal)).toBe(true);
      expect(shown(protocol, request)).toEqual([]);
      expect(protocol.learn?.(request, refusal)).toBe(false);
      expect(shown(protocol, showing(model, 'image-c'))).toEqual(['image-c']);
    },
  );

  it.each(protocols)('of %s: the newest stay when there are too many', (model, create) => {
    const protocol = create();
    const request = showing(model, 'image-a', 'image-b', 'image-c');

    expect(protocol.learn?.(request, refused('At most 2 image(s) may be provided in one prompt.'))).toBe(true);
    expect(shown(protocol, request)).toEqual(['image-b', 'image-c']);
    expect(protocol.learn?.(request, refused('max allowed size for many-image requests: 2000 pixels'))).toBe(true);
    expect(shown(protocol, request)).toEqual(['image-c']);
  });

  it.each([
    ['too many images and documents: 104 + 1 > 100', 104, 50],
    ['Too much media: 60 document pages + 45 images > 100', 45, 22],
    ['Too many images provided. This model supports up to 5 images', 9, 5],
    ['Too many images.', 9, 1],
  ])('are not all left out when there are too many: %s', (message, count, kept) => {
    const protocol = new AnthropicProtocol(provider('anthropic', 'anthropic'));
    const all = Array.from({ length: count }, (_, at) => `image-${at}-`);
    const request = showing('anthropic/claude-sonnet-4-5', ...all);

    expect(protocol.learn(request, refused(message))).toBe(true);
    expect(all.filter((data) => sent(protocol, request).includes(data))).toEqual(all.slice(-kept));
  });

  it.each(protocols)('of %s: that of a tool is left out of its result', (model, create) => {
    const protocol = create();
    const request = requestTo(model, {
      tools: [tool],
      messages: [...calling(), { role: 'tool', results: [{ ...result, image: picture('image-a') }] }],
    });

    expect(protocol.learn?.(request, refused('Could not process image'))).toBe(true);
    expect(shown(protocol, request)).toEqual([]);
    expect(sent(protocol, request)).toContain('seen\\n(An image that cannot be shown');
  });
});

const result = { tool_call_id: callId, text: 'seen', is_error: false };

function calling(opaque: { thought?: object; call?: object; maker?: string } = {}): ModelMessage[] {
  const { thought, call, maker = 'x' } = opaque;
  return [
    { role: 'user', content: [{ type: 'text', text: 'Look.' }] },
    {
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'I look.', ...(thought && { opaque: { maker, data: thought } }) },
        {
          type: 'tool_call',
          id: callId,
          name: 'look',
          arguments: {},
          ...(call && { opaque: { maker, data: call } }),
        },
      ],
    },
  ];
}

describe('what came with reasoning and is no longer accepted', () => {
  const withResult = (...given: Parameters<typeof calling>): ModelMessage[] => [
    ...calling(...given),
    { role: 'tool', results: [result] },
  ];

  it.each([
    [
      'openai/gpt-5.2',
      new ResponsesProtocol(provider('openai')),
      { thought: { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'OPAQUE' }, maker: 'openai/gpt-5.2' },
      'The encrypted content gAAA...DQ== could not be verified.',
    ],
    [
      'openai/gpt-5.3',
      new ResponsesProtocol(provider('openai')),
      { thought: { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'OPAQUE' }, maker: 'openai/gpt-5.3' },
      "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
    ],
    [
      'openai/gpt-5.4',
      new ResponsesProtocol(provider('openai')),
      { thought: { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'OPAQUE' }, maker: 'openai/gpt-5.4' },
      "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false.",
    ],
    [
      'anthropic/claude-sonnet-4-5',
      new AnthropicProtocol(provider('anthropic', 'anthropic')),
      { thought: { signature: 'OPAQUE' }, maker: 'anthropic/claude-sonnet-4-5' },
      'messages.1.content.0: Invalid `signature` in `thinking` block',
    ],
    [
      'gemini/gemini-3-pro',
      new OpenAiProtocol(provider('gemini')),
      { call: { extra_content: { google: { thought_signature: 'OPAQUE' } } }, maker: 'gemini/gemini-3-pro' },
      'Unable to submit request because Thought signature is not valid.',
    ],
    [
      'openrouter/google/gemini-3-pro',
      new OpenAiProtocol(provider('openrouter')),
      {
        thought: { details: [{ type: 'reasoning.encrypted', data: 'OPAQUE' }] },
        maker: 'openrouter/google/gemini-3-pro',
      },
      'Corrupted thought signature.',
    ],
  ])('is not sent to %s again', (model, protocol: WireProtocol, opaque, message) => {
    const request = requestTo(model, {
      tools: [tool],
      settings: { enable_thinking: true },
      messages: withResult(opaque),
    });

    expect(sent(protocol, request)).toContain('OPAQUE');
    expect(protocol.learn?.(request, refused(message))).toBe(true);
    expect(sent(protocol, request)).not.toContain('OPAQUE');
    expect(sent(protocol, request)).not.toContain('budget_tokens'); // Claude cannot think in a turn without its thinking
    expect(protocol.learn?.(request, refused(message))).toBe(false);
  });

  it('is not sent again to a server that says with 404 that it does not find it', () => {
    const model = 'openai/gpt-5.2';
    const protocol = new ResponsesProtocol(provider('openai'));
    const thought = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'OPAQUE' };
    const request = requestTo(model, { messages: withResult({ thought, maker: model }) });
    const message = "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false.";
    expect(protocol.learn(request, new ProviderError('not_found', 'The model does not exist.'))).toBe(false);
    expect(protocol.learn(request, new ProviderError('not_found', message))).toBe(true);
    expect(sent(protocol, request)).not.toContain('OPAQUE');
  });
});
