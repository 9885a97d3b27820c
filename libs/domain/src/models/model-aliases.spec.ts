import { readAliases } from './model-aliases';

describe('readAliases', () => {
  it('has full names by short ones', () => {
    const aliases = readAliases('{"sonnet": "anthropic/claude-sonnet-5", "gpt-4.1": "openai/gpt-4.1"}');

    expect(aliases.get('sonnet')).toBe('anthropic/claude-sonnet-5');
    expect(readAliases(undefined).size).toBe(0);
  });

  it.each(['{', '[]', '{"a/b": "openai/gpt-5"}', '{"a": "b"}', '{"": "openai/gpt-5"}'])('refuses %s', (text) => {
    expect(() => readAliases(text)).toThrow('MODEL_ALIASES cannot be understood');
  });
});
