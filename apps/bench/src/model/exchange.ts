/** A request and its answer, as the model server recorded them, in `nowMs` time. */
export interface Exchange {
  readonly tag: string;
  readonly turn: number;
  /** When the whole request had arrived. */
  readonly arrivedMs: number;
  readonly endedMs: number;
  /** Size of the request. */
  readonly bytes: number;
}

/** Commands to the model's process, which answers each with a report. */
export type ModelCommand = 'report' | 'release' | 'count held';

export interface ModelReport {
  /** Since the last report. */
  readonly exchanges: readonly Exchange[];
  /** Requests whose answer waits for `release`. */
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
