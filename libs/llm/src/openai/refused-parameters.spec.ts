import { ProviderError } from '../provider-error';
import { learnFrom, withLessons } from './refused-parameters';

const params = { model: 'm', stream_options: {}, max_tokens: 9, temperature: 0.5, messages: [] };
const refused = (message: string) => new ProviderError('invalid_request', message);

describe('a parameter that was refused by name', () => {
  it.each([
    ['Extra inputs are not permitted: stream_options', { stream_options: null }],
    ['invalid temperature: only 1 is allowed for this model', { temperature: null }],
    [
      "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead.",
      { max_tokens: 'max_completion_tokens' },
    ],
  ])('is learned from "%s"', (message, lessons) => {
    expect(learnFrom(refused(message), params, {})).toEqual(lessons);
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
});
