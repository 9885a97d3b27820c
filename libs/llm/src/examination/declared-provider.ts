import { type ProviderSettings, splitModelName } from '@rondo/domain';
import { z } from 'zod';
import type { Examination } from './examine-model';

/** The entries of MODEL_PROVIDERS, which the service has read before; whatever else they have stays as it is. */
const entry = z.looseObject({
  name: z.string(),
  profile: z.union([z.string(), z.looseObject({})]).optional(),
  models: z.array(z.looseObject({ id: z.string() })).optional(),
});
type Entry = z.infer<typeof entry>;

/** What is to be declared. */
export interface Declaration {
  /** Only what differs, so that no header of the entry, which may be secret, is shown. */
  readonly shown: Readonly<Record<string, unknown>>;
  /** The whole new value of MODEL_PROVIDERS. */
  readonly value: string;
}

/**
 * What the examination of a model (`provider/model`) changes in `MODEL_PROVIDERS`, whose value before is `before`. Undefined: nothing
 * is to be declared. A provider that is built in gets an entry of its own.
 */
export function declareProvider(
  { rules, facts }: Pick<Examination, 'rules' | 'facts'>,
  { provider, model, before = '[]' }: { provider: ProviderSettings; model: string; before: string | undefined },
): Declaration | undefined {
  const { id } = splitModelName(model);
  const profile = toDeclared(rules);
  const differs = { profile: Object.keys(profile).length > 0, facts: Object.keys(facts).length > 0 };
  if (!differs.profile && !differs.facts) return undefined;
  const entries = z.array(entry).parse(JSON.parse(before === '' ? '[]' : before));
  const declared = entries.find(({ name }) => name === provider.name) ?? toEntry(provider);
  const changed: Entry = {
    ...declared,
    ...(differs.profile && { profile: { ...toFields(declared.profile), ...profile } }),
    ...(differs.facts && { models: withFacts(declared.models ?? [], id, facts) }),
  };
  const others = entries.filter(({ name }) => name !== provider.name);
  return {
    shown: {
      name: provider.name,
      ...(differs.profile && { profile: changed.profile }),
      ...(differs.facts && { models: [{ id, ...facts }] }),
    },
    value: JSON.stringify([...others, changed]),
  };
}

const toFields = (profile: Entry['profile']): object =>
  typeof profile === 'string' ? { like: profile } : { ...profile };

/** The rules as MODEL_PROVIDERS declares them, in snake_case. */
const toDeclared = (rules: Examination['rules']): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(rules).map(([name, value]) => [
      name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      value,
    ]),
  );

function withFacts(models: NonNullable<Entry['models']>, id: string, facts: Examination['facts']) {
  const before = models.find((one) => one.id === id) ?? { id };
  return [...models.filter((one) => one.id !== id), { ...before, ...facts }];
}

const openAiUrl = 'https://api.openai.com/v1';

/** The key of a built-in provider stays in its variable. */
const toEntry = ({ name, kind, baseUrl = openAiUrl }: ProviderSettings): Entry => ({
  ...{ name, kind, base_url: baseUrl },
  api_key_variable: `${name.toUpperCase()}_API_KEY`,
});
