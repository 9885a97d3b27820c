import type { ModelProviders } from './provider-settings';

const ofProvider = [
  { provider: 'openai', model: 'openai/gpt-5.1' }, // later ones take no tools while they reason
  { provider: 'anthropic', model: 'anthropic/claude-sonnet-5' },
];

/**
 * The default model of a deployment that names none: a real one as soon as OpenAI or Anthropic has a key. Another server
 * in the place of one of them may not have that model, so it does not count.
 */
export const usualModel = ({ providers }: Pick<ModelProviders, 'providers'>): string =>
  ofProvider.find(({ provider }) => providers.some(({ name, baseUrl }) => name === provider && baseUrl === undefined))
    ?.model ?? 'demo/coder';
