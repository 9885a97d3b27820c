import { listOthers } from './other-settings';

it('names settings in words, with their units, and leaves out what is shown elsewhere', () => {
  const settings = {
    limits: { max_iterations: 7, max_malformed_calls: 3 },
    fallbacks: ['demo/plain', { model: 'demo/coder', on: ['timeout'] }],
    processor: { execute_tools: true },
    context: { input_budget_tokens: 120_000 },
  };

  expect(listOthers(settings, ['limits.max_iterations'])).toEqual([
    { words: 'limits, max malformed calls', value: '3' },
    { words: 'fallbacks', value: 'demo/plain, {"model":"demo/coder","on":["timeout"]}' },
    { words: 'processor, execute tools', value: 'yes' },
    { words: 'context, input budget tokens', value: '120,000' },
  ]);
  expect(listOthers({ idle_s: 5 }, [])).toEqual([{ words: 'idle in seconds', value: '5' }]);
});
