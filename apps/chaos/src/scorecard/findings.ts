import type { Spread } from './spread';

/** A figure to reach. `truth` must hold on any machine; `time` depends on how fast it is. */
export interface Bar {
  readonly about: 'truth' | 'time';
  readonly what: string;
  readonly wanted: string;
  readonly measured: string;
  readonly met: boolean;
}

/** What an experiment saw. */
export interface Findings {
  /** How much was run, in words. */
  readonly size: string;
  /** How often each fault was injected. */
  readonly faults: Readonly<Record<string, number>>;
  /** What was counted over all runs. */
  readonly counts: Readonly<Record<string, number>>;
  readonly times: Readonly<Record<string, Spread | undefined>>;
  readonly bars: readonly Bar[];
  /** What is worth a row each. */
  readonly table?: { readonly head: readonly string[]; readonly rows: readonly (readonly string[])[] };
  /** What went wrong, and where to look; the first few. */
  readonly details: readonly string[];
}

/** This must never have happened. */
export const never = (what: string, times: number): Bar => ({
  about: 'truth',
  what,
  wanted: '0',
  measured: String(times),
  met: times === 0,
});

/** Each of them must have. */
export const always = (what: string, { times, of }: { times: number; of: number }): Bar => ({
  about: 'truth',
  what,
  wanted: `all ${of}`,
  measured: String(times),
  met: times === of,
});

/** Otherwise the experiment proves nothing. */
export const atLeast = (what: string, { seen, wanted }: { seen: number; wanted: number }): Bar => ({
  about: 'truth',
  what,
  wanted: `≥ ${wanted}`,
  measured: String(seen),
  met: seen >= wanted,
});

/** What was never measured misses the bar. */
export const within = (what: string, ms: number | undefined, limitMs: number): Bar => ({
  about: 'time',
  what,
  wanted: `≤ ${inWords(limitMs)}`,
  measured: ms === undefined ? 'never seen' : inWords(ms),
  met: ms !== undefined && ms <= limitMs,
});

export const inWords = (ms: number): string => (ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`);
