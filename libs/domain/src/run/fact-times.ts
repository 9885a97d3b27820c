import type { NewFact, RecordedFact } from '@rondo/contract';

/** A fact has a time once it is recorded. */
export const timeOf = (fact: NewFact | RecordedFact): string | undefined => ('at' in fact ? fact.at : undefined);

export const millisecondsBetween = (from: string | undefined, to: string | undefined): number =>
  from && to ? Math.max(0, Date.parse(to) - Date.parse(from)) : 0;

/** How long a run has waited in all, with a wait since then that this fact ends. */
export const waitedUntil = (
  { waitedMs }: { readonly waitedMs: number },
  since: string | undefined,
  fact: NewFact | RecordedFact,
): number => waitedMs + millisecondsBetween(since, timeOf(fact));
