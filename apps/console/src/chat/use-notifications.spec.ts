import { readNews } from './use-notifications';

const run = (about: Partial<Parameters<typeof readNews>[0]>) =>
  readNews({ status: 'running', finish_reason: null, error: null, waiting: null, ...about });

it('a person is told the question of a run, what else it waits for, and how it ended', () => {
  const asks = { reason: 'ask', question: { text: 'Which colour?' } } as Parameters<typeof readNews>[0]['waiting'];
  expect(run({ status: 'waiting_input', waiting: asks })).toBe('Which colour?');
  expect(run({ status: 'waiting_budget' })).toBe('Waits for budget');
  expect(run({ status: 'completed', finish_reason: 'max_iterations' })).toContain('max iterations');
});

it('a person is told nothing of a run that goes on without them', () => {
  for (const status of ['queued', 'running', 'stopping', 'waiting_child', 'waiting_tool'] as const)
    expect(run({ status })).toBeUndefined();
});
