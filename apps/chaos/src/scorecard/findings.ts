import type { Spread } from './spread';

/** A threshold. `truth` must hold on any machine; `time` depends on the machine's speed. */
export interface Bar {
  readonly about: 'truth' | 'time';
  readonly what: string;
  readonly wanted: string;
  readonly measured: string;
  readonly met: boolean;
}

/** The results of an experiment. */
export interface Findings {
  /** The size of the experiment, in words. */
  readonly size: string;
  /** How often each fault was injected. */
  readonly faults: Readonly<Record<string, number>>;
  /** Counts over all runs. */
  readonly counts: Readonly<Record<string, number>>;
  readonly times: Readonly<Record<string, Spread | undefined>>;
  readonly bars: readonly Bar[];
  /** Details as a table. */
  readonly table?: { readonly head: readonly string[]; readonly rows: readonly (readonly string[])[] };
  /** The first few violations, with the ids of their runs. */
  readonly details: readonly string[];
}

/** The count must be zero. */
export const never = (what: string, times: number): Bar => ({
  about: 'truth',
  what,
  wanted: '0',
  measured: String(times),
  met: times === 0,
});

/** All of them must. */
export const always = (what: string, { times, of }: { times: number; of: number }): Bar => ({
  about: 'truth',
  what,
  wanted: `all ${of}`,
  measured: String(times),
  met: times === of,
});

/** The count must be above zero, or the experiment proves nothing. */
export const atLeast = (what: string, { seen, wanted }: { seen: number; wanted: number }): Bar => ({
  about: 'truth',
  what,
  wanted: `≥ ${wanted}`,
  measured: String(seen),
  met: seen >= wanted,
});

/** A time that was never measured misses the bar. */
export const within = (what: string, ms: number | undefined, limitMs: number): Bar => ({
  about: 'time',
  what,
  wanted: `≤ ${inWords(limitMs)}`,
  measured: ms === undefined ? 'never seen' : inWords(ms),
  met: ms !== undefined && ms <= limitMs,
});

export const inWords = (ms: number): string => (ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`);
