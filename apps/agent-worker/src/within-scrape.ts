const longestMs = 2_000;

/**
 * What was read, or undefined where it cannot be read soon. Prometheus waits ten seconds for an answer: with a database that
 * hangs it would get none of the other figures either, just when they matter.
 */
export async function withinScrape<Value>(reading: Promise<Value>): Promise<Value | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => (timer = setTimeout(resolve, longestMs, undefined)));
  return Promise.race([reading.catch(() => undefined), late]).finally(() => clearTimeout(timer));
}
