import { setImmediate as turn } from 'node:timers/promises';
import { Several } from './several';

describe('Several', () => {
  it('lets three be in progress, and then waits for one of them', async () => {
    const several = new Several();
    const ends: (() => void)[] = [];
    let begun = 0;
    const all = (async () => {
      for (; begun < 6; begun += 1) await several.add(new Promise<void>((resolve) => ends.push(resolve)));
    })();
    await turn();
    expect(ends).toHaveLength(3);

    ends[1]?.();
    await turn();
    expect(ends).toHaveLength(4);
    for (let end = 0; begun < 6; end += 1) {
      ends[end]?.();
      await turn();
    }
    await all;
    for (const end of ends) end();
    await several.finish();
  });

  it('says the first failure, when the others have ended', async () => {
    const several = new Several();
    let isDone = false;
    await several.add(turn().then(() => (isDone = true)));
    await several.add(Promise.reject(new Error('broken')));

    await expect(several.finish()).rejects.toThrow('broken');
    expect(isDone).toBe(true);
    await expect(several.add(Promise.resolve())).rejects.toThrow('broken');
  });
});
