import { endingBy } from './finish-reason';

describe('how a reply ended', () => {
  it.each(['stop', 'STOP', 'eos', 'end_turn', 'stop_sequence', 'completed', 'FINISH_REASON_STOP', 'tool_calls'])(
    'is whole with %s',
    (word) => {
      expect(endingBy(word, false)).toEqual({ finishReason: 'stop', word });
      expect(endingBy(word, true)).toEqual({ finishReason: 'tool_calls', word });
    },
  );

  it.each(['length', 'MAX_TOKENS', 'max_tokens', 'max_length', 'model_context_window_exceeded', 'pause_turn'])(
    'is the limit of length with %s',
    (word) => {
      expect(endingBy(word, false)).toEqual({ finishReason: 'length', word });
    },
  );

  it.each(['content_filter', 'content-filter', 'content_filter: violence', 'SAFETY', 'RECITATION', 'refusal'])(
    'is a failure with %s',
    (word) => {
      expect(endingBy(word, true)).toMatchObject({ error: { code: 'content_policy_violation', transient: false } });
    },
  );

  it.each([
    ['network_error', 'connection_error'],
    ['insufficient_system_resource', 'service_unavailable'],
    ['abort', 'api_error'],
    ['error', 'api_error'],
    ['malformed_function_call', 'api_error'],
    ['OTHER', 'api_error'],
    ['a word of tomorrow', 'api_error'],
  ])('is broken off, and says so, with %s', (word, code) => {
    const ending = endingBy(word, true);
    expect(ending).toMatchObject({ error: { code, transient: true }, word });
    expect('error' in ending && ending.error.message).toContain(word);
  });
});
