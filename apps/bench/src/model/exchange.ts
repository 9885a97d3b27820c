/** A request and its answer, as the model saw them; times of the common clock. */
export interface Exchange {
  readonly tag: string;
  readonly turn: number;
  /** The whole request was there. */
  readonly arrivedMs: number;
  readonly endedMs: number;
  /** Of the request. */
  readonly bytes: number;
}

/** What the bench tells the model's process: it answers each order with a report. */
export type ModelOrder = 'report' | 'release' | 'count held';

export interface ModelReport {
  /** Since the last report. */
  readonly exchanges: readonly Exchange[];
  /** Requests that wait for their release. */
  readonly held: number;
}

/** Overhead per iteration: from the end of an answer to the arrival of the same run's next request. */
export function gapsMs(exchanges: readonly Exchange[]): number[] {
  const last = new Map<string, Exchange>();
  const gaps: number[] = [];
  for (const exchange of exchanges) {
    const before = last.get(exchange.tag);
    if (before?.turn === exchange.turn - 1) gaps.push(exchange.arrivedMs - before.endedMs);
    last.set(exchange.tag, exchange);
  }
  return gaps;
}
