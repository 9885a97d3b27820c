import type { RecordedFact } from '@rondo/contract';

/** How far a replay has come in the recorded log. */
export class RecordedPlace {
  /** The index of the fact that comes next. */
  at = 0;

  constructor(readonly facts: readonly RecordedFact[]) {}

  get next(): RecordedFact | undefined {
    return this.facts[this.at];
  }

  get last(): RecordedFact | undefined {
    return this.facts[this.at - 1];
  }

  /** The time that it was. */
  now(): string {
    return (this.next ?? this.last)?.at ?? new Date(0).toISOString();
  }
}
