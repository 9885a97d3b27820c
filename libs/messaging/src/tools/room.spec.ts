import { Room } from './room';

const never = new AbortController().signal;

/** Work that goes on until it is ended. */
function job() {
  let end = (): void => undefined;
  const over = new Promise<void>((resolve) => (end = resolve));
  const work = jest.fn(() => over);
  return { work, end };
}

const settled = () => new Promise(setImmediate);

describe('Room', () => {
  it('is for so many, and for the next in order of arrival', async () => {
    const room = new Room(2);
    const jobs = [job(), job(), job(), job()] as const;
    jobs.forEach(({ work }) => void room.for(never, work));
    await settled();
    expect(jobs.map(({ work }) => work.mock.calls.length)).toEqual([1, 1, 0, 0]);

    jobs[1].end();
    await settled();
    expect(jobs.map(({ work }) => work.mock.calls.length)).toEqual([1, 1, 1, 0]);
  });

  it('gives a place to whoever waits, not to whoever comes at that moment', async () => {
    const room = new Room(1);
    const [first, waiting, late] = [job(), job(), job()];
    const over = room.for(never, first.work);
    void room.for(never, waiting.work);
    first.end();
    await over;
    void room.for(never, late.work);
    await settled();

    expect([waiting.work, late.work].map(({ mock }) => mock.calls.length)).toEqual([1, 0]);
  });

  it('lets work that is aborted go ahead without a place', async () => {
    const room = new Room(1);
    const [first, waiting, next] = [job(), job(), job()];
    const abort = new AbortController();
    void room.for(never, first.work);
    const stopped = room.for(abort.signal, waiting.work);
    void room.for(AbortSignal.abort(), next.work);

    abort.abort();
    await settled();
    expect([waiting.work, next.work].map(({ mock }) => mock.calls.length)).toEqual([1, 1]);

    waiting.end();
    await stopped;
    const last = job();
    void room.for(never, last.work);
    await settled();
    expect(last.work).not.toHaveBeenCalled();
  });

  it('is there again after work that failed', async () => {
    const room = new Room(1);
    await expect(room.for(never, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');

    expect(await room.for(never, () => Promise.resolve('done'))).toBe('done');
  });
});
