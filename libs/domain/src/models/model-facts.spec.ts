import { findFacts, knownModels } from './model-facts';

const facts = (name: string, id: string) => findFacts({ name, models: [] }, id);

describe('findFacts', () => {
  it('takes a version of a known model as that model, and a longer name as another', () => {
    expect(facts('openai', 'gpt-5-2025-08-07')?.id).toBe('gpt-5');
    expect(facts('openai', 'gpt-5-mini')?.id).toBe('gpt-5-mini');
    expect(facts('anthropic', 'claude-haiku-4-5-20251001')?.id).toBe('claude-haiku-4-5');
    expect(facts('anthropic', 'claude-opus-5-5')?.price?.input).toBe(4);
    expect(facts('openai', 'gpt-5-pro')).toBeUndefined();
    expect(facts('acme', 'gpt-5')).toBeUndefined();
  });

  it('prefers the configuration to the list', () => {
    const declared = { id: 'gpt-5', price: { input: 9, output: 9 } };
    expect(findFacts({ name: 'openai', models: [declared] }, 'gpt-5')).toBe(declared);
  });

  it('knows every demo model as free of charge', () => {
    expect(facts('demo', 'slow-tool:seconds=3')?.price).toEqual({ input: 0, output: 0 });
    expect(facts('demo-anthropic', 'coder')?.price).toEqual({ input: 0, output: 0 });
  });

  it.each([
    ['anthropic', 'claude-fable-5', 10, 1],
    ['anthropic', 'claude-opus-4-8', 5, 0.5],
    ['anthropic', 'claude-opus-4-7', 5, 0.5],
    ['anthropic', 'claude-opus-4-6', 5, 0.5],
    ['anthropic', 'claude-opus-4-5-20251101', 5, 0.5],
    ['anthropic', 'claude-sonnet-4-6', 3, 0.3],
    ['openai', 'gpt-6-sol', 2, 0.2],
  ])('knows what a model of %s costs that is no longer the newest, but still served: %s', (name, id, input, read) => {
    expect(facts(name, id)?.price).toMatchObject({ input, cache_read: read });
  });

  it('lists no model twice', () => {
    for (const models of knownModels.values()) expect(new Set(models.map(({ id }) => id)).size).toBe(models.length);
  });
});
