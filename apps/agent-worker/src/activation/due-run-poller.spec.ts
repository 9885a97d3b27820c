import { type RunId, runId } from '@rondo/contract';
import type { ClaimedRun } from '@rondo/domain';
import { ActiveRuns } from './active-runs';
import { DueRunPoller } from './due-run-poller';

const id = runId.parse('run_1');
const never = () => Promise.reject(new Error('nobody should look'));

function lookout({ answers = false, due = () => Promise.resolve([id]) as Promise<readonly RunId[]>, concurrency = 2 }) {
  const held = new ActiveRuns();
  let taken = 0;
  const limits: number[] = [];
  const patience: number[] = [];
  const parts = {
    queue: { answers: () => Promise.resolve(answers) },
    store: {
      due: ({ limit, sinceMs }: { limit: number; sinceMs: number }) => {
        limits.push(limit);
        patience.push(sinceMs);
        return due();
      },
    },
    held,
    concurrency,
    activateNext: () => Promise.resolve((taken += 1)),
    failed: () => undefined,
  };
  return { held, taken: () => taken, limits, patience, lookout: new DueRunPoller(parts) };
}

describe('Lookout', () => {
  it('asks Postgres for due runs as long as the queue is silent, and says so (I1, R11)', async () => {
    const { lookout: out, taken } = lookout({});

    await out.look();

    expect(taken()).toBe(1);
    await expect(out.hearsQueue()).rejects.toThrow('silent');
  });

  it('takes what a queue that answers has not brought for seconds, though a place is free', async () => {
    const { lookout: out, taken, patience } = lookout({ answers: true });

    await out.look();

    expect(taken()).toBe(1);
    expect(patience).toEqual([4_000]);
    await expect(out.hearsQueue()).resolves.toBeUndefined();
  });

  it('needs no Postgres while the queue answers', async () => {
    const { lookout: out } = lookout({ answers: true, due: never });

    await out.look();

    await expect(out.hasLooked(10_000)).resolves.toBeUndefined();
  });

  it('takes no more than it has places for, and nothing when it leaves', async () => {
    const { lookout: out, held, limits } = lookout({});
    held.hold({ runId: runId.parse('run_2') } as ClaimedRun); // what a place is taken by does not matter
    await out.look();
    expect(limits).toEqual([1]);

    held.drain();
    await out.look();
    expect(limits).toEqual([1]);
  });

  it('is a sign of life only while it looks somewhere (R11)', async () => {
    const { lookout: out } = lookout({ due: never });
    await new Promise((resolve) => setTimeout(resolve, 20));

    await expect(out.look()).rejects.toThrow('nobody should look');
    await expect(out.hasLooked(10)).rejects.toThrow('neither');

    const seeing = lookout({});
    await seeing.lookout.look();
    await expect(seeing.lookout.hasLooked(10_000)).resolves.toBeUndefined();
  });
});
