import { Autoscaler } from './autoscaler';

const rule = { min: 0, max: 8, target: 4, stabilizationMs: 1_000, removalMs: 200 };

/** The numbers of workers after each look, 100 ms apart, at these numbers of runs. */
function workersAfter(looks: readonly number[], changes: Partial<typeof rule> = {}): number[] {
  const autoscaler = new Autoscaler({ ...rule, ...changes });
  let workers = 0;
  return looks.map((toServe, index) => (workers = autoscaler.decide({ atMs: index * 100, toServe, workers })));
}

describe('an autoscaler', () => {
  it('adds workers at once, as many as the runs need, up to the maximum', () => {
    expect(workersAfter([0, 1, 5, 1_000])).toEqual([0, 1, 2, 8]);
  });

  it('removes one at a time, after the runs have been fewer for the whole window', () => {
    const looks = [12, ...Array<number>(14).fill(0)];
    expect(workersAfter(looks)).toEqual([3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 2, 2, 1, 1, 0]);
  });

  it('removes none that the runs of the window needed', () => {
    const looks = [12, ...Array<number>(9).fill(0), 12, ...Array<number>(9).fill(0)];
    expect(new Set(workersAfter(looks))).toEqual(new Set([3]));
  });

  it('keeps the minimum', () => {
    expect(workersAfter([0, 0, 0], { min: 2 })).toEqual([2, 2, 2]);
  });
});
