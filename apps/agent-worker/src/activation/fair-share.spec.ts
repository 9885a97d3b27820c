import { accountId, runId } from '@rondo/contract';
import type { ClaimedRun } from '@rondo/domain';
import { ActiveRuns } from '@rondo/run-holder';
import { FairShare } from './fair-share';

const claim = (number: number) =>
  ({ runId: runId.parse(`run_${number}`), accountId: accountId.parse('acc_1') }) as ClaimedRun; // no more is read

function fixture({ active, waiting }: { active: number; waiting: number }) {
  const activeRuns = new ActiveRuns();
  const runs = Array.from({ length: active }, (_, number) => activeRuns.add(claim(number)));
  const queue = { waiting: () => Promise.resolve(waiting) };
  const share = new FairShare({ activeRuns, queue, concurrency: active, minActiveMs: 0 });
  return { activeRuns, runs, share, asked: () => runs.map(({ signals }) => signals.drain.aborted) };
}

describe('FairShare', () => {
  afterEach(() => jest.restoreAllMocks());

  it('asks as many runs to leave as jobs wait, the longest active first', async () => {
    const { share, asked } = fixture({ active: 4, waiting: 2 });

    await share.enforce();

    expect(asked()).toEqual([true, true, false, false]);
  });

  it('asks others the next time, since one may reach its boundary late', async () => {
    const { share, asked } = fixture({ active: 4, waiting: 1 });

    await share.enforce();
    await share.enforce();

    expect(asked()).toEqual([true, true, false, false]);
  });

  it('asks none while this process has a free place', async () => {
    const { activeRuns, runs, share, asked } = fixture({ active: 2, waiting: 1 });
    runs.slice(0, 1).forEach((run) => activeRuns.remove(run));

    await share.enforce();

    expect(asked()).toEqual([false, false]);
  });

  it('asks them also after the clock was set back', async () => {
    const { share, asked } = fixture({ active: 1, waiting: 1 });
    jest.spyOn(Date, 'now').mockReturnValue(0);

    await share.enforce();

    expect(asked()).toEqual([true]);
  });
});
