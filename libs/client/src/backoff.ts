const firstMs = 250;
const longestMs = 8_000;

/** Doubles with each failure in a row, up to 8 s, with jitter so that clients do not return at the same moment. */
export function backoffMs(failures: number): number {
  const most = Math.min(longestMs, firstMs * 2 ** Math.min(failures, 10));
  return most * (0.5 + Math.random() / 2);
}

/** Resolves after so many milliseconds; rejects with the reason of the signal when that is aborted. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason as Error); // what the caller aborted with, whatever it is
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
}
