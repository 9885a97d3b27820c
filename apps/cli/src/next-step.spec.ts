import { findRemedy, nextStep } from './next-step';

it('a model that there is not leads to the list of models', () => {
  const failed = (code: string) => ({ error: { code, message: 'x' } });

  expect([failed('not_found'), failed('timeout'), { error: null }].map(findRemedy)).toEqual([
    'rondo models ls',
    undefined,
    undefined,
  ]);
});

it('a run whose message was read leads to the run that has read it', () => {
  const steers = { run_id: 'run_2', is_read: true };

  expect(findRemedy({ error: null, steers })).toBe('rondo watch run_2');
  expect(findRemedy({ error: null, steers: { ...steers, is_read: false } })).toBeUndefined();
});

it('a run that waits leads to the command that helps it', () => {
  expect(nextStep('run_1', { reason: 'caller_tools' })).toBe('rondo watch run_1');
  expect(nextStep('run_1', { reason: 'ask' })).toContain('rondo answer run_1');
  const budget = { usd: null, tokens: 500, spent_usd: 0.1, spent_tokens: 480 };
  expect(nextStep('run_1', { reason: 'budget', budget })).toBe('rondo budget raise run_1 --tokens …');
  const ofRoot = { ...budget, usd: 1, root_run_id: 'run_0' };
  expect(nextStep('run_1', { reason: 'budget', budget: ofRoot })).toBe('rondo budget raise run_0 --usd … --tokens …');
});
