import type { ModelProviders } from './provider-settings';

const ofProvider = [
  { provider: 'openai', model: 'openai/gpt-5.1' }, // later ones take no tools while they reason
  { provider: 'anthropic', model: 'anthropic/claude-sonnet-5' },
];

/**
 * The default model of a deployment that names none: a real one as soon as OpenAI or Anthropic is configured. Of another server in
 * the place of one of them it is the first model that is declared for it. Without that, the server is asked for the usual one, and
 * says itself that it lacks it: a demo never answers in the place of a configured provider.
 */
export function usualModel({ providers }: Pick<ModelProviders, 'providers'>): string {
  const models = ofProvider.flatMap(({ provider, model }) => {
    const configured = providers.find(({ name }) => name === provider);
    if (!configured) return [];
    const [declared] = configured.models;
    return [declared === undefined ? model : `${provider}/${declared.id}`];
  });
  return models[0] ?? 'demo/coder';
}
