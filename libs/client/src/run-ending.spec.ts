import { finishReason } from '@rondo/contract';
import { describeEnding } from './run-ending.ts';

describe('how a run ended', () => {
  it.each(['stop', 'complete'] as const)('a run that ended with %s did what it was asked', (finish_reason) => {
    expect(describeEnding({ status: 'completed', finish_reason })).toMatchObject({
      outcome: 'done',
      word: 'Completed',
    });
  });

  it.each(['max_iterations', 'budget_exceeded', 'loop_detected', 'length'] as const)(
    'a run that ended with %s is not called completed',
    (finish_reason) => {
      const ending = describeEnding({ status: 'completed', finish_reason });
      expect(ending?.outcome).toBe('unfinished');
      expect(ending?.word).not.toBe('Completed');
    },
  );

  it('has words for every finish reason, and does not take an unknown one for success', () => {
    for (const finish_reason of finishReason.options)
      expect(describeEnding({ status: 'completed', finish_reason })?.sentence).toMatch(/^The .+\.$/);
    const newer = { status: 'completed', finish_reason: 'out_of_disk' as 'stop' } as const;
    expect(describeEnding(newer)).toMatchObject({ outcome: 'unfinished', sentence: 'The run ended with out_of_disk.' });
  });

  it('does not say that a run without a budget, which its account could not pay, has used one up', () => {
    const { sentence } = describeEnding({ status: 'completed', finish_reason: 'budget_exceeded' }) ?? {};
    expect(sentence).toContain('what the run or its account may spend');
  });

  it('says why a run failed', () => {
    const ending = describeEnding({ status: 'failed', finish_reason: 'error', error: { message: 'No such model.' } });
    expect(ending).toEqual({ outcome: 'failed', word: 'Failed', sentence: 'The run failed: No such model.' });
  });

  it('does not call a run stopped by a person whose message the run at work has read', () => {
    const steers = { run_id: 'run_1', is_read: true };
    expect(describeEnding({ status: 'stopped', steers })).toMatchObject({
      outcome: 'stopped',
      word: 'Message read',
      sentence: expect.stringContaining('has read its message'),
    });
    expect(describeEnding({ status: 'stopped', steers: { ...steers, is_read: false } })?.word).toBe('Stopped');
  });

  it('says nothing of a run that is not over', () => {
    expect(describeEnding({ status: 'running', finish_reason: null })).toBeUndefined();
  });
});
