import { type RunId, runId } from '@rondo/contract';
import type { ClaimedRun } from '@rondo/domain';
import { ActiveRuns } from '@rondo/run-holder';
import { DueRunPoller } from './due-run-poller';

const id = runId.parse('run_1');
const noStatement = () => Promise.reject(new Error('unexpected statement'));

function fixture({
  answers = false,
  due = () => Promise.resolve([id]) as Promise<readonly RunId[]>,
  concurrency = 2,
  isResting = false,
}) {
  const activeRuns = new ActiveRuns();
  let activated = 0;
  let asked = 0;
  const limits: number[] = [];
  const dueSince: number[] = [];
  const parts = {
    queue: { answers: () => Promise.resolve((asked += 1) > 0 && answers) },
    store: {
      due: ({ limit, sinceMs }: { limit: number; sinceMs: number }) => {
        limits.push(limit);
        dueSince.push(sinceMs);
        return due();
      },
    },
    activeRuns,
    rest: { isResting },
    concurrency,
    activateNext: () => Promise.resolve((activated += 1)),
    failed: () => undefined,
  };
  return {
    activeRuns,
    activated: () => activated,
    asked: () => asked,
    limits,
    dueSince,
    poller: new DueRunPoller(parts),
  };
}

describe('DueRunPoller', () => {
  it('activates due runs from Postgres while the queue does not answer, and fails the queue check (I1)', async () => {
    const { poller, activated } = fixture({});

    await poller.poll();

    expect(activated()).toBe(1);
    await expect(poller.checkQueue()).rejects.toThrow('does not answer');
  });

  it('activates a run that an answering queue has not delivered for four seconds', async () => {
    const { poller, activated, dueSince } = fixture({ answers: true });

    await poller.poll();

    expect(activated()).toBe(1);
    expect(dueSince).toEqual([4_000]);
    await expect(poller.checkQueue()).resolves.toBeUndefined();
  });

  it('counts as polled without Postgres while the queue answers', async () => {
    const { poller } = fixture({ answers: true, due: noStatement });

    await poller.poll();

    await expect(poller.assertPolled(10_000)).resolves.toBeUndefined();
  });

  it('reads nothing while the deployment rests, unless the queue does not answer', async () => {
    const resting = fixture({ answers: true, isResting: true });
    await resting.poller.poll();
    expect(resting.limits).toEqual([]);

    const without = fixture({ answers: false, isResting: true });
    await without.poller.poll();
    expect(without.activated()).toBe(1);
  });

  it('asks the queue again within five seconds while the deployment rests, and counts as polled', async () => {
    const { poller, asked } = fixture({ answers: true, isResting: true });

    await poller.poll();
    await poller.poll();

    expect(asked()).toBe(1);
    await expect(poller.assertPolled(10)).resolves.toBeUndefined();
  });

  it('activates no more runs than the concurrency allows, and none during a shutdown', async () => {
    const { poller, activeRuns, limits } = fixture({});
    activeRuns.add({ runId: runId.parse('run_2') } as ClaimedRun); // only its id is read
    await poller.poll();
    expect(limits).toEqual([1]);

    activeRuns.drain();
    await poller.poll();
    expect(limits).toEqual([1]);
  });

  it('fails the liveness check when neither the queue nor Postgres answers', async () => {
    const { poller } = fixture({ due: noStatement });
    await new Promise((resolve) => setTimeout(resolve, 20));

    await expect(poller.poll()).rejects.toThrow('unexpected statement');
    await expect(poller.assertPolled(10)).rejects.toThrow('neither');

    const polling = fixture({});
    await polling.poller.poll();
    await expect(polling.poller.assertPolled(10_000)).resolves.toBeUndefined();
  });
});
