import { readProviders } from './provider-settings';
import { usualModel } from './usual-model';

it.each([
  [{}, 'demo/coder'],
  [{ DEMO_MODEL_URL: 'http://demo' }, 'demo/coder'],
  [{ DEMO_MODEL_URL: 'http://demo', OPENAI_API_KEY: 'k' }, 'openai/gpt-5.1'],
  [{ ANTHROPIC_API_KEY: 'k' }, 'anthropic/claude-sonnet-5'],
  [{ ANTHROPIC_API_KEY: 'k', OPENAI_API_KEY: 'k' }, 'openai/gpt-5.1'],
  [{ OPENAI_API_KEY: 'k', OPENAI_BASE_URL: 'http://local/v1' }, 'openai/gpt-5.1'],
  [{ ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: 'http://local' }, 'anthropic/claude-sonnet-5'],
  [{ MODEL_PROVIDERS: '[{"name":"openai","base_url":"http://local/v1"}]' }, 'openai/gpt-5.1'],
  [
    {
      OPENAI_API_KEY: 'k',
      MODEL_PROVIDERS: '[{"name":"openai","base_url":"http://local/v1","models":[{"id":"own"}]}]',
    },
    'openai/own',
  ],
])('the usual model where there is %j is %s', (variables, model) => {
  expect(usualModel(readProviders(variables))).toBe(model);
});
