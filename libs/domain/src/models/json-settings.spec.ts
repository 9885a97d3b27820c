import { z } from 'zod';
import { jsonSettingsAreReadable } from './json-settings';

const environment = z
  .object({
    PLACES: z.coerce.number().optional(),
    MODEL_PROVIDERS: z.string().optional(),
    MODEL_PRICES: z.string().optional(),
    MODEL_ALIASES: z.string().optional(),
    MODEL_FALLBACKS: z.string().optional(),
    ACCOUNT_TIERS: z.string().optional(),
  })
  .check(jsonSettingsAreReadable);

const findFaults = (variables: Record<string, string>) =>
  environment.safeParse(variables).error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);

const names = ['MODEL_PROVIDERS', 'MODEL_PRICES', 'MODEL_ALIASES', 'MODEL_FALLBACKS', 'ACCOUNT_TIERS'];

describe('settings that are JSON', () => {
  it('are each named if they are none, also beside another setting that is wrong', () => {
    const wrong = Object.fromEntries(names.map((name) => [name, '{"a"']));

    expect(findFaults({ PLACES: 'many', ...wrong })).toEqual([
      expect.stringContaining('PLACES: '),
      ...names.map((name) => `${name}: must be JSON`),
    ]);
  });

  it('are named with the place in them that is wrong', () => {
    const faults = findFaults({
      MODEL_PROVIDERS: '[{"name":"vllm","base_url":"http://gpu/v1"},{"name":"A B","base_url":"http://gpu/v1"}]',
      ACCOUNT_TIERS: '{"default":"gold","tiers":{"free":{}}}',
    });

    expect(faults).toEqual([
      'MODEL_PROVIDERS.1.name: must be lower-case letters, digits, "-" or "_"',
      'ACCOUNT_TIERS.default: must be the name of a tier',
    ]);
  });

  it('may be absent, or as they are documented', () => {
    expect(findFaults({})).toBeUndefined();
    expect(findFaults({ MODEL_ALIASES: '{"fast":"openai/gpt-5-mini"}' })).toBeUndefined();
  });
});
