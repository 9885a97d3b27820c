import { type ModelProviders, type ProviderSettings, splitModelName } from '@rondo/domain';
import { localServers, profilesOfProviders } from './known-profiles';
import { type ProviderProfile, usualMaxTools } from './provider-profile';

type Addressed = Pick<ProviderSettings, 'name' | 'baseUrl'>;

/**
 * The profile for a model (`provider/model`): by the provider's host or name, else by the model; else what most accept.
 * What the provider's entry says about its profile comes first.
 */
export function findProfile(provider: Addressed & Pick<ProviderSettings, 'profile'>, model: string): ProviderProfile {
  const { like, rules } = provider.profile ?? {};
  return { ...findKnownProfile(like === undefined ? provider : { name: like }, model), ...rules };
}

function findKnownProfile({ name, baseUrl }: Addressed, model: string): ProviderProfile {
  const { id } = splitModelName(model);
  const host = baseUrl === undefined ? '' : new URL(baseUrl).hostname;
  const candidates = profilesOfProviders.filter(({ except }) => !except?.test(id));
  const addressed = candidates.find(({ hosts, names }) => hosts?.test(host) === true || names.test(name));
  const known = candidates.find(({ models }) => models?.test(id) === true);
  const isHost = addressed !== undefined && localServers.includes(addressed);
  if (isHost && known) return { ...known, family: addressed.family, ...toHosted(known) };
  return addressed ?? known ?? { family: name, names: /^$/ };
}

/** The most tools of a request to a model. */
export function findMaxTools(model: string, { providers }: Pick<ModelProviders, 'providers'>): number {
  const provider = providers.find(({ name }) => name === splitModelName(model).provider);
  return (provider && findProfile(provider, model).maxTools) ?? usualMaxTools;
}

/** The templates of open models know no `reasoning_details` and no signatures. */
const toHosted = ({ reasoning }: ProviderProfile): Partial<ProviderProfile> =>
  reasoning === 'signatures' || reasoning === 'details' ? { reasoning: 'as_received' } : {};

/** The model as what it gives names it: `family/model`. */
export const toMaker = ({ family }: ProviderProfile, model: string): string => `${family}/${splitModelName(model).id}`;
