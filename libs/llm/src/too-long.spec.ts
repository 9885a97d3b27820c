import { contextOverflow } from '@rondo/domain';
import { refusal } from './provider-error';
import { saysTooLong, tooLongWordings } from './too-long';

const said = tooLongWordings.flatMap((wording) => wording.said.map((text) => [text, wording.words] as const));

describe('tooLongWordings', () => {
  it('has the words of at least forty servers', () => {
    expect(said.length).toBeGreaterThanOrEqual(40);
  });

  it.each(said)('reads "%s" as too long', (text, words) => {
    expect(text).toMatch(words);
    expect(saysTooLong(text)).toBe(true);
    expect(refusal({ status: 400, detail: { error: { message: text } } })).toMatchObject({
      code: contextOverflow,
      transient: false,
    });
  });

  it.each([
    'Too many tokens, please wait before trying again.',
    'Throttling error: too many tokens',
    'Rate limit reached: 30000 tokens per minute for the context window',
    'max_tokens is too large: 8192. This model supports at most 4096 completion tokens.',
    'Invalid schema for function "x": name is too long',
    'input_too_short: the input is empty',
  ])('does not read "%s" as too long', (text) => {
    expect(saysTooLong(text)).toBe(false);
  });

  it.each([
    [400, { error: { code: 400, message: 'no', type: 'exceed_context_size_error', n_ctx: 8192 } }],
    [400, { error: { message: 'no', code: 'model_max_prompt_tokens_exceeded' } }],
    [413, { error: { message: 'no', code: 'tokens_limit_reached' } }],
    [
      400,
      [{ error: { code: 400, message: 'The input token count (9) exceeds the maximum', status: 'INVALID_ARGUMENT' } }],
    ],
    [400, { code: 'Client specified an invalid argument', error: "This model's maximum prompt length is 131072" }],
    [
      429,
      {
        error: {
          message: 'Request too large for m on tokens per minute (TPM): Limit 6000, Requested 8000',
          code: 'rate_limit_exceeded',
        },
      },
    ],
  ])('reads a %i of the form %j as too long', (status, detail) => {
    expect(refusal({ status, detail }).code).toBe(contextOverflow);
  });
});
