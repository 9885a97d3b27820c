import { ProviderError } from '../provider-error';
import { learnFrom, withLessons } from './refused-parameters';

const params = { model: 'm', stream_options: {}, max_tokens: 9, temperature: 0.5, messages: [] };
const more = { ...params, stream: true, reasoning_effort: 'high', top_p: 0.9 };
const refused = (message: string) => new ProviderError('invalid_request', message);

describe('a parameter that was refused by name', () => {
  it.each([
    ['Extra inputs are not permitted: stream_options', { stream_options: null }],
    ['invalid temperature: only 1 is allowed for this model', { temperature: null }],
    ['Your organization must be verified to stream this model.', { stream: null }],
    ["BedrockException - This model doesn't support tool use in streaming mode.", { stream: null }],
    ['Model grok-4-0709 does not support parameter reasoningEffort.', { reasoning_effort: null }],
    ['Argument not supported on this model: topP', { top_p: null }],
    ['Expected `thinking` or `redacted_thinking`, but found `tool_use`.', { reasoning_effort: null }],
    [
      "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead.",
      { max_tokens: 'max_completion_tokens' },
    ],
  ])('is learned from "%s"', (message, lessons) => {
    expect(learnFrom(refused(message), more, {})).toEqual(lessons);
  });

  it.each([
    ["Unsupported parameter: 'reasoning.effort' is not supported with this model.", { reasoning: null }],
    ["Unsupported parameter: 'text.format' is not supported with this model.", { text: null }],
    ['Unknown parameter: "include"', { include: null }],
    ['Encrypted content is not supported with this model.', { include: null }],
    ["Unsupported parameter: 'max_output_tokens'", { max_output_tokens: null }],
    ["Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item.", undefined],
    ['The text of the input must include a letter.', undefined],
  ])('of the Responses API is learned from "%s"', (message, lessons) => {
    const given = { model: 'm', reasoning: {}, text: {}, include: [], max_output_tokens: 9, input: [] };
    expect(learnFrom(refused(message), given, {})).toEqual(lessons);
  });

  it('is not learned from what names none of the request, or is no matter of the request', () => {
    expect(learnFrom(refused('The tool_choice is wrong.'), params, {})).toBeUndefined();
    expect(learnFrom(new ProviderError('rate_limit', 'temperature'), params, {})).toBeUndefined();
  });

  it('is left out or renamed from then on, which the request says', () => {
    const lessons = { stream_options: null, max_tokens: 'max_completion_tokens' };
    expect(withLessons(params, lessons)).toEqual({
      params: { model: 'm', max_completion_tokens: 9, temperature: 0.5, messages: [] },
      omitted: ['stream_options'],
    });
  });

  it('is the stream together with its options', () => {
    expect(withLessons(more, { stream: null })).toEqual({
      params: { model: 'm', max_tokens: 9, temperature: 0.5, reasoning_effort: 'high', top_p: 0.9, messages: [] },
      omitted: ['stream', 'stream_options'],
    });
  });
});
