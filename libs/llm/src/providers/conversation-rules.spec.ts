import { callId, sha256 } from '@rondo/contract';
import type { ModelMessage, ProviderSettings, ShownDocument } from '@rondo/domain';
import { AnthropicProtocol } from '../anthropic/anthropic-protocol';
import { OpenAiProtocol } from '../openai/openai-protocol';
import { ProviderError } from '../provider-error';
import { ResponsesProtocol } from '../responses/responses-protocol';
import { requestTo } from '../testing/read-model-reply';
import type { WireProtocol } from '../wire-protocol';
import { readsDocuments } from './conversation-rules';

const provider = (name: string, more: Partial<ProviderSettings> = {}): ProviderSettings => ({
  name,
  kind: 'openai',
  apiKey: 'k',
  headers: {},
  models: [],
  ...more,
});

const pdf = (letter: string, more: Partial<ShownDocument> = { data: 'cGRm' }): ShownDocument => ({
  type: 'document',
  name: `${letter}.pdf`,
  sha256: sha256.parse(letter.repeat(64)),
  pages: 1,
  ...more,
});
const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } } as const;

const asking = (model: string, ...content: Extract<ModelMessage, { role: 'user' }>['content']) =>
  requestTo(model, { messages: [{ role: 'user', content: [...content, { type: 'text', text: 'Read.' }] }] });
const sent = (protocol: WireProtocol, request: ReturnType<typeof asking>): string =>
  JSON.stringify(protocol.request(request).params);

const url = 'data:application/pdf;base64,cGRm';
const file = JSON.stringify({ type: 'file', file: { filename: 'a.pdf', file_data: url } });
const note = '(The PDF a.pdf is not shown to this model; a tool can read its text.)';
const claude = provider('anthropic', { kind: 'anthropic' });

describe('a PDF', () => {
  it.each([
    ['openai/gpt-4.1', new OpenAiProtocol(provider('openai')), file],
    ['openai/gpt-3.5-turbo', new OpenAiProtocol(provider('openai')), note],
    ['openrouter/any/m', new OpenAiProtocol(provider('openrouter')), file],
    [
      'gemini/gemini-3',
      new OpenAiProtocol(provider('gemini')),
      JSON.stringify({ type: 'image_url', image_url: { url } }),
    ],
    ['deepseek/deepseek-v4', new OpenAiProtocol(provider('deepseek')), note],
    ['acme/m', new OpenAiProtocol(provider('acme')), note],
    ['acme/m', new OpenAiProtocol(provider('acme', { profile: { rules: { documents: 'file' } } })), file],
    [
      'openai/gpt-6',
      new ResponsesProtocol(provider('openai')),
      JSON.stringify({ type: 'input_file', filename: 'a.pdf', file_data: url }),
    ],
    [
      'anthropic/claude-sonnet-5',
      new AnthropicProtocol(claude),
      JSON.stringify({
        type: 'document',
        title: 'a.pdf',
        source: { type: 'base64', media_type: 'application/pdf', data: 'cGRm' },
      }),
    ],
    ['anthropic/kimi-k2', new AnthropicProtocol(claude), note],
    ['openrouter/kimi-k2', new AnthropicProtocol(provider('openrouter', { kind: 'anthropic' })), '"type":"document"'],
    [
      'acme/m',
      new AnthropicProtocol(provider('acme', { kind: 'anthropic', profile: { rules: { documents: 'file' } } })),
      '"type":"document"',
    ],
  ])('reaches %s in the form that it reads', (model, protocol, expected) => {
    expect(sent(protocol, asking(model, pdf('a')))).toContain(expected);
  });

  it('is words where its bytes are gone', () => {
    expect(sent(new AnthropicProtocol(claude), asking('anthropic/claude-sonnet-5', pdf('a', {})))).toContain(
      '(The PDF a.pdf, which is not kept any more.)',
    );
  });

  it.each([
    ['openai/gpt-4.1', new OpenAiProtocol(provider('openai'))],
    ['openai/gpt-6', new ResponsesProtocol(provider('openai'))],
    ['anthropic/claude-sonnet-5', new AnthropicProtocol(claude)],
  ])('that %s refused is left out from then on, and no other is', (model, protocol: WireProtocol) => {
    const request = asking(model, pdf('a'));
    const refusal = new ProviderError('invalid_request', 'The PDF specified is password protected.');
    expect(protocol.learn?.(request, refusal)).toBe(true);
    expect(sent(protocol, request)).toContain(note);
    expect(protocol.learn?.(request, refusal)).toBe(false);
    expect(sent(protocol, asking(model, pdf('b')))).toContain('cGRm');
  });

  it('is refused by name only: another refusal teaches nothing about it', () => {
    const protocol = new AnthropicProtocol(claude);
    const request = asking('anthropic/claude-sonnet-5', pdf('a'));
    expect(protocol.learn(request, new ProviderError('invalid_request', 'max_tokens is too large.'))).toBe(false);
    expect(protocol.learn(request, new ProviderError('rate_limit', 'Too many PDF pages a minute.'))).toBe(false);
  });

  it('is read by the models whose providers show it to them', () => {
    const reads = readsDocuments([provider('openai'), provider('deepseek'), claude]);
    const models = ['openai/gpt-4.1', 'openai/gpt-4', 'deepseek/m', 'anthropic/claude-opus-5', 'unknown/claude-opus-5'];
    expect(models.map(reads)).toEqual([true, false, false, true, false]);
  });
});

describe('an image', () => {
  it.each([
    ['acme/m', new OpenAiProtocol(provider('acme'))],
    ['openai/gpt-6', new ResponsesProtocol(provider('openai'))],
    ['anthropic/m', new AnthropicProtocol(claude)],
  ])('that %s refused is words from then on', (model, protocol: WireProtocol) => {
    const request = asking(model, image);
    expect(sent(protocol, request)).toContain('aGk=');
    const refusal = new ProviderError('invalid_request', 'This model does not support image input.');
    expect(protocol.learn?.(request, refusal)).toBe(true);
    expect(sent(protocol, request)).toContain('(An image, which this model cannot see.)');
  });
});

describe('the reasoning of a model', () => {
  const refusals = [
    "messages.1.assistant.reasoning_content: property 'messages.1.assistant.reasoning_content' is unsupported",
    "'messages.1' : for 'role:assistant' the following must be satisfied[('messages.1' : property 'reasoning_content' is unsupported)]",
    'body.messages.1.assistant.reasoning_content: Extra inputs are not permitted',
    "Additional properties are not allowed ('reasoning_content' was unexpected) - 'messages.1'",
    'Failed to deserialize the JSON body: messages[1]: unknown field `reasoning_content`',
  ];
  const id = callId.parse('call_01hzzzzzzzzzzzzzzzzzzzzzzz');
  const messages: ModelMessage[] = [
    { role: 'user', content: [{ type: 'text', text: 'Go' }] },
    { role: 'assistant', content: [{ type: 'tool_call', id, name: 'see', arguments: {} }] },
    { role: 'tool', results: [{ tool_call_id: id, text: 'seen', is_error: false }] },
  ];

  it.each(refusals)('does not go back any more to a server that refuses it: %s', (message) => {
    const protocol = new OpenAiProtocol(provider('cerebras'));
    const request = requestTo('cerebras/moonshotai/kimi-k2', { messages });
    expect(sent(protocol, request)).toContain('"reasoning_content"');
    expect(protocol.learn(request, new ProviderError('invalid_request', message))).toBe(true);
    expect(sent(protocol, request)).not.toContain('"reasoning_content"');
  });

  it.each([
    'The `reasoning_content` in the thinking mode must be passed back to the API.',
    'thinking is enabled but reasoning_content is missing in assistant tool call message at index 1',
  ])('goes back with every call to a server that demands it: %s', (demand) => {
    const protocol = new OpenAiProtocol(provider('acme'));
    const request = requestTo('acme/ours', { messages });
    expect(sent(protocol, request)).not.toContain('"reasoning_content"');
    expect(protocol.learn(request, new ProviderError('invalid_request', demand))).toBe(true);
    expect(sent(protocol, request)).toContain('"reasoning_content":""');
    expect(protocol.learn(request, new ProviderError('invalid_request', demand))).toBe(false);
  });
});
