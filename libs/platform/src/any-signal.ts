/**
 * Aborts with the first of `signals`; `release` removes its listeners. `AbortSignal.any` keeps an entry on a long-lived
 * signal for ever, and on Node 20 is garbage-collected together with a timeout that nothing else refers to.
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
