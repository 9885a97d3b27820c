/**
 * Aborts with the first of `signals`, and lets go of them when told to. `AbortSignal.any` would leave a trace on a
 * signal that lives long, and be forgotten with a timeout that nobody else holds.
 */
export function anySignal(signals: readonly AbortSignal[]): { readonly signal: AbortSignal; release(): void } {
  const first = new AbortController();
  const abort = () => first.abort();
  const release = () => {
    for (const signal of signals) signal.removeEventListener('abort', abort);
  };
  for (const signal of signals) signal.addEventListener('abort', abort);
  if (signals.some(({ aborted }) => aborted)) abort();
  return { signal: first.signal, release };
}
