import { getEventListeners } from 'node:events';
import { anySignal } from './any-signal';

describe('anySignal', () => {
  it('aborts with the first of its signals', () => {
    const [one, other] = [new AbortController(), new AbortController()];
    const { signal } = anySignal([one.signal, other.signal]);
    expect(signal.aborted).toBe(false);

    other.abort();
    expect(signal.aborted).toBe(true);
  });

  it('is aborted from the start when one of them is', () => {
    expect(anySignal([new AbortController().signal, AbortSignal.abort()]).signal.aborted).toBe(true);
  });

  it('leaves no listener on a long-lived signal after release', () => {
    const long = new AbortController();
    const { signal, release } = anySignal([long.signal]);
    release();

    expect(getEventListeners(long.signal, 'abort')).toEqual([]);
    long.abort();
    expect(signal.aborted).toBe(false);
  });
});
