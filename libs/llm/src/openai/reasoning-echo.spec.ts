import { type ReasoningBlock, callId } from '@rondo/contract';
import type { ModelMessage, ReplyChunk } from '@rondo/domain';
import { findProfile, toMaker } from '../providers/find-profile';
import { requestTo } from '../testing/read-model-reply';
import { createTurns } from './openai-messages';
import { EndingHabit, OpenAiReply } from './openai-reply';
import { toOpenAiRequest } from './openai-request';

const id = callId.parse('call_1');
const call = { index: 0, id: 'x', function: { name: 'see', arguments: '{}' } };

function createRecipient(name: string, model: string) {
  const profile = findProfile({ name }, `${name}/${model}`);
  return { maker: toMaker(profile, `${name}/${model}`), profile };
}

/** The reply as it is stored, in a request that follows it. */
function findEcho(from: readonly [string, string], to: readonly [string, string], ...deltas: object[]): object {
  const chunks: ReplyChunk[] = [];
  const reader = new OpenAiReply(new EndingHabit(), createRecipient(...from));
  for (const delta of deltas) reader.read(JSON.stringify({ choices: [{ delta }] }), chunks);
  reader.read('[DONE]', chunks);

  const thoughts: ReasoningBlock[] = [];
  let text = '';
  for (const chunk of chunks) {
    if (chunk.type === 'reasoning') text += chunk.text;
    if (chunk.type === 'reasoning_end')
      thoughts.push({ type: 'reasoning', text, ...(chunk.opaque && { opaque: chunk.opaque }) });
  }
  const begun = chunks.find((chunk) => chunk.type === 'call_start');
  const opaque = begun?.type === 'call_start' && begun.opaque ? { opaque: begun.opaque } : {};
  const messages: ModelMessage[] = [
    { role: 'user', content: [{ type: 'text', text: 'Go' }] },
    { role: 'assistant', content: [...thoughts, { type: 'tool_call', id, name: 'see', arguments: {}, ...opaque }] },
    { role: 'tool', results: [{ tool_call_id: id, text: 'seen', is_error: false }] },
  ];
  const recipient = createRecipient(...to);
  const request = toOpenAiRequest(requestTo(to.join('/'), { messages, system: '' }), {
    streams: true,
    profile: recipient.profile,
    toTurns: createTurns(recipient),
  });
  return request.messages[1] ?? {};
}

const thinking = [{ reasoning_content: 'I should ' }, { reasoning_content: 'look.' }, { tool_calls: [call] }];
const v4 = ['deepseek', 'deepseek-v4-pro'] as const;
const flash = ['gemini', 'gemini-3-flash'] as const;
const router = ['openrouter', 'google/gemini-3-pro'] as const;
const other = ['acme', 'some-model'] as const;

describe('what a model gave with its calls', () => {
  it('goes back in the field that it came in', () => {
    expect(findEcho(v4, v4, ...thinking)).toMatchObject({ reasoning_content: 'I should look.' });
    expect(findEcho(other, other, ...thinking)).toMatchObject({ reasoning_content: 'I should look.' });
    expect(findEcho(other, other, { reasoning: 'Hm.' }, { tool_calls: [call] })).toMatchObject({ reasoning: 'Hm.' });
  });

  it('goes back through LiteLLM with the signatures of Claude and of Gemini', () => {
    const lite = ['litellm', 'any'] as const;
    const blocks = (thinking: string, signature: string) => ({
      reasoning_content: thinking,
      thinking_blocks: [{ type: 'thinking', thinking, signature }],
    });
    expect(findEcho(lite, lite, blocks('Hm.', ''), blocks('', 'SIGNED'), { tool_calls: [call] })).toMatchObject({
      reasoning_content: 'Hm.',
      thinking_blocks: [{ type: 'thinking', thinking: 'Hm.', signature: 'SIGNED' }],
    });
    const provider_specific_fields = { thought_signature: 'SIGNED' };
    const signed = { tool_calls: [{ ...call, provider_specific_fields }] };
    expect(findEcho(lite, lite, signed)).toMatchObject({ tool_calls: [{ provider_specific_fields }] });
    expect(JSON.stringify(findEcho(lite, other, signed))).not.toContain('SIGNED');
  });

  it('is empty where the provider demands it with every call', () => {
    expect(findEcho(v4, v4, { tool_calls: [call] })).toMatchObject({ reasoning_content: '' });
    expect(findEcho(other, v4, ...thinking)).toMatchObject({ reasoning_content: '' });
  });

  it('goes to no other model', () => {
    for (const to of [other, flash, router, ['mistral', 'mistral-large'], ['groq', 'llama-3.3']] as const)
      expect(JSON.stringify(findEcho(v4, to, ...thinking))).not.toContain('should');
    expect(
      findEcho(['deepseek', 'deepseek-reasoner'], ['deepseek', 'deepseek-reasoner'], ...thinking),
    ).not.toHaveProperty('reasoning_content');
  });

  it('is the signature of each call for Gemini, and a stand-in for a call of another model', () => {
    const extra_content = { google: { thought_signature: 'c2ln' } };
    expect(findEcho(flash, flash, { tool_calls: [{ ...call, extra_content }] })).toMatchObject({
      tool_calls: [{ extra_content }],
    });
    expect(findEcho(other, flash, ...thinking)).toMatchObject({
      tool_calls: [{ extra_content: { google: { thought_signature: 'skip_thought_signature_validator' } } }],
    });
  });

  it('is the list of details for OpenRouter, as it came', () => {
    const details = [
      { type: 'reasoning.encrypted', data: 'ZGF0YQ==', id: 'tool_1', format: 'google-gemini-v1', index: 0 },
    ];
    const echo = findEcho(router, router, { reasoning_details: details }, { tool_calls: [call] });
    expect(echo).toMatchObject({ reasoning_details: details });
  });
});
