import { concurrently } from './concurrently';

describe('work on several items at a time', () => {
  it('is never for more than so many at once, and is done for each', async () => {
    const done: number[] = [];
    let [active, most] = [0, 0];

    await concurrently([1, 2, 3, 4, 5], 2, async (item) => {
      most = Math.max(most, (active += 1));
      await new Promise(setImmediate);
      active -= 1;
      done.push(item);
    });

    expect(done.sort()).toEqual([1, 2, 3, 4, 5]);
    expect(most).toBe(2);
  });

  it('ends what is in progress before it reports an error, and begins nothing after it', async () => {
    const done: number[] = [];
    const work = async (item: number) => {
      if (item === 1) throw new Error('no');
      await new Promise(setImmediate);
      done.push(item);
    };

    await expect(concurrently([1, 2, 3, 4], 2, work)).rejects.toThrow('no');

    expect(done).toEqual([2]);
  });
});
