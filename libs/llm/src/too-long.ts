/** The names of "too long" that servers give in `type`, `code` or `status`. */
export const tooLongNames: ReadonlySet<string> = new Set([
  'context_length_exceeded',
  'context_window_exceeded',
  'context_too_large',
  'exceed_context_size_error',
  'input_too_large',
  'input_too_long',
  'model_context_window_exceeded',
  'model_max_prompt_tokens_exceeded',
  'prompt_too_long',
  'request_too_large',
  'tokens_limit_reached',
]);

interface Wording {
  readonly words: RegExp;
  /** What servers said, as it was reported in public; each is tested. */
  readonly said: readonly string[];
}

/** How servers say that a request is too long for the model. Add what is missing: words that no other error has, and the message. */
export const tooLongWordings: readonly Wording[] = [
  {
    words: /prompt (?:is )?too long|prompt .{0,40}is too long/i,
    said: [
      'prompt is too long: 213462 tokens > 200000 maximum',
      'Prompt too long: 5152 tokens exceeds max_seq_len 2048',
      'prompt too long; exceeded max context length by 4 tokens',
      'Input prompt (35247 tokens) is too long and exceeds limit of 1000',
      'The prompt (9000 tokens) is too long for the model.',
    ],
  },
  {
    words: /input (?:is |was )?too long|input .{0,30}is too long|request is too long/i,
    said: [
      'Input is too long for requested model.',
      'Input too long, please reduce your input',
      'litellm.BadRequestError: BedrockException - {"message":"Input is too long for requested model."}',
      'The input text is too long for this model.',
    ],
  },
  {
    words: /maximum context length|max(?:imum)? (?:model|sequence|total) length|max_(?:model|seq|input)_len/i,
    said: [
      "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",
      "This model's maximum context length is 262144 tokens. However, you requested 0 output tokens and your prompt contains at least 262145 input tokens, for a total of at least 262145 tokens.",
      "This endpoint's maximum context length is 1048576 tokens. However, you requested about 1293741 tokens.",
      "Input length (265330) exceeds model's maximum context length (262144).",
      "'max_tokens' or 'max_completion_tokens' is too large: 8192. This model's maximum context length is 65536 tokens and your request has 57879 input tokens (8192 > 65536 - 57879).",
      'Prompt contains 140000 tokens, too large for model with 131072 maximum context length',
      'The decoder prompt (length 9000) is longer than the maximum model length of 8192.',
      'The prompt length 9001 exceeds max_model_len 8192',
    ],
  },
  {
    words:
      /context (?:length|window|size|limit)s?\b.{0,40}\bexceed|exceed\w*\b.{0,60}\bcontext (?:length|window|size|limit)/i,
    said: [
      'Your input exceeds the context window of this model. Please adjust your input and try again.',
      'the request exceeds the available context size, try increasing it',
      'request (66202 tokens) exceeds the available context size (65536 tokens), try increasing it',
      'input length and max_tokens exceed context limit: 170636 + 34048 > 200000, decrease input length or max_tokens and try again',
      'invalid params, context window exceeds limit (2013)',
      'Context size has been exceeded.',
      'The input length exceeds the context length',
      'Requested tokens (9000) exceed context window of 8192',
    ],
  },
  {
    words: /(?:longer|greater|larger|more) than (?:the )?(?:model'?s )?(?:maximum )?context (?:length|window)/i,
    said: [
      "The input (210000 tokens) is longer than the model's context length (200000 tokens).",
      'The number of tokens to keep from the initial prompt is greater than the context length. Try to load the model with a larger context length, or provide a shorter input',
    ],
  },
  {
    words: /context length of only|configured context size|context length is (?:only )?[\d,]+/i,
    said: [
      'Trying to keep the first 111490 tokens when context the overflows. However, the model is loaded with context length of only 32768 tokens, which is not enough.',
      'Prompt has 32769 tokens, but the configured context size is 32768 tokens',
    ],
  },
  {
    words:
      /maximum prompt length|prompt exceeds (?:the |max(?:imum)? )(?:length|token)|prompt token count of .{0,20}exceeds/i,
    said: [
      "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
      'Prompt exceeds the length limit',
      'Prompt exceeds max length',
      'prompt token count of 135168 exceeds the limit of 128000',
    ],
  },
  {
    words: /input (?:token|length)\b.{0,40}\bexceeds?\b|inputs? tokens?\b.{0,40}\b(?:must have less|exceed)/i,
    said: [
      'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
      'Input length 131393 exceeds the maximum allowed input length of 131040 tokens.',
      'input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000 tokens.',
    ],
  },
  {
    words: /`?inputs`?(?: tokens)? (?:\+ `max_new_tokens` )?must (?:have less than|be <=) [\d,]+/i,
    said: [
      '`inputs` tokens + `max_new_tokens` must be <= 8192. Given: 9000 `inputs` tokens and 512 `max_new_tokens`',
      'Input validation error: `inputs` must have less than 4095 tokens. Given: 6000',
    ],
  },
  {
    words: /range of input length should be/i,
    said: ['<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]'],
  },
  {
    words: /model token limit|token limit exceeded|exceeds? the (?:model'?s )?token limit/i,
    said: [
      'Invalid request: Your request exceeded model token limit: 262144 (requested: 300000)',
      'Token limit exceeded: the request has 140000 tokens',
    ],
  },
  {
    words: /reduce (?:the|your) (?:length of )?(?:the |your )?(?:messages|prompt|input)/i,
    said: [
      'Please reduce the length of the messages or completion.',
      'Please reduce your prompt; or completion length.',
    ],
  },
  {
    words:
      /tokens in request more than max tokens allowed|too many (?:input |prompt |total )?tokens(?! per)|number of (?:input )?tokens .{0,40}(?:exceeds?|larger)/i,
    said: [
      'tokens in request more than max tokens allowed',
      'Too many tokens: 140000 > 128000',
      'too many input tokens. maximum is 128000',
      'The number of input tokens 9001 exceeds the limit of 8192',
    ],
  },
  {
    words:
      /too large for (?:the )?model|request (?:body |entity |payload )?(?:is )?too large|payload too large|size limit .{0,30}exceeded/i,
    said: [
      'Prompt of 40000 tokens is too large for the model with 32768 tokens',
      'Request too large: it exceeds the maximum size',
      'Payload Too Large',
      'Request size limit (32 MB) exceeded',
    ],
  },
  {
    words: /'(?:messages|input)[^']*': string too long|expected maxlength: [\d,]+, actual/i,
    said: [
      "Invalid 'messages[3].content': string too long. Expected a string with maximum length 10485760, but got a string with length 11485760 instead.",
      'Malformed input request: expected maxLength: 300000, actual: 400001, please reformat your input and try again.',
    ],
  },
  {
    words: /超过(?:了)?(?:模型)?(?:最大)?(?:上下文|长度|token)|(?:输入|上下文).{0,12}(?:过长|超长|超出|超过)/i,
    said: ['输入内容过长，超过模型最大上下文长度', '上下文长度超出限制'],
  },
];

/** Words of other errors about tokens, which a shorter request would not help: a pace, or the length of the reply alone. */
const otherLimits =
  /too many tokens, please wait|throttl|rate.?limit|per (?:minute|day|hour)|(?:TPM|RPM|TPD)\b|at most \d+ completion tokens/i;

/** Whether these words say that the request is too long for the model. */
export const saysTooLong = (text: string): boolean =>
  !otherLimits.test(text) && tooLongWordings.some(({ words }) => words.test(text));

/**
 * Whether the text has these words for "too long", which a provider's entry declares: in any case, with any white space and
 * any numbers.
 */
export function saysDeclared(text: string, words: readonly string[] = []): boolean {
  const said = toPattern(text);
  return words.some((one) => said.includes(toPattern(one)));
}

const toPattern = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/\d[\d.,]*/g, '#')
    .replaceAll(/\s+/g, ' ')
    .trim();

/** Whether one request has more tokens than a whole minute may have, so that waiting cannot help. */
export function isLargerThanPace(text: string): boolean {
  const { limit, requested } = /\bLimit:? (?<limit>\d+), Requested:? (?<requested>\d+)/i.exec(text)?.groups ?? {};
  return Number(requested) > Number(limit);
}
