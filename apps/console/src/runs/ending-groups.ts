import { type Run, describeEnding } from '@rondo/client';

/** Runs that ended in the same way, the newest first. */
export interface EndingGroup {
  /** The code of a failure, or the reason of an end before it was done. */
  readonly kind: string;
  readonly runs: readonly Run[];
  readonly models: readonly string[];
  /** The words of the newest of them. */
  readonly sentence: string;
}

/** What differs from one failure to the next of the same kind: ids, numbers, addresses, quoted names. */
const particulars = /\b[a-z]{2,4}_[0-9A-Z]{20,}\b|"[^"]*"|https?:\/\/\S+|\d+/g;

const toKey = (kind: string, message: string): string => `${kind} ${message.replaceAll(particulars, '…')}`;

/** Failed and unfinished runs by what ended them, those that happened most first. Others are left out. */
export function groupEndings(runs: readonly Run[]): readonly EndingGroup[] {
  const groups = new Map<string, { kind: string; sentence: string; runs: Run[] }>();
  for (const run of runs) {
    const ending = describeEnding(run);
    if (!ending || ending.outcome === 'done' || ending.outcome === 'stopped') continue;
    const kind = run.error?.code ?? run.finish_reason ?? run.status;
    const sentence = run.error?.message ?? ending.sentence;
    const key = toKey(kind, sentence);
    const group = groups.get(key) ?? { kind, sentence, runs: [] };
    group.runs.push(run);
    groups.set(key, group);
  }
  return [...groups.values()]
    .map((group) => ({ ...group, models: [...new Set(group.runs.map(({ model }) => model))].sort() }))
    .sort((a, b) => b.runs.length - a.runs.length);
}
