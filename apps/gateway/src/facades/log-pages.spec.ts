import type { AccountId, Run, RunId, ThreadId } from '@rondo/contract';
import { listThreadRuns } from './log-pages';

it('keeps the settings of the newest run of a thread alone, however many runs it has', async () => {
  const toRun = (index: number) =>
    ({ id: `run_${index}`, settings: { model: `demo/${index}` } }) as Partial<Run> as Run;
  const list = ({ after = '0' }: { after?: string | undefined }) => {
    const data = Array.from({ length: 3 }, (_, index) => toRun(Number(after) + index));
    return Promise.resolve({
      data,
      has_more: after !== '6',
      next_cursor: after === '6' ? null : `${Number(after) + 3}`,
    });
  };

  const runs = await listThreadRuns({ list }, { accountId: 'acc_1' as AccountId, threadId: 'thr_1' as ThreadId });
  expect(runs.map(({ id }) => id)).toEqual(Array.from({ length: 9 }, (_, index) => `run_${index}` as RunId));
  expect(runs.map(({ settings }) => settings?.model).filter(Boolean)).toEqual(['demo/0']);
});
