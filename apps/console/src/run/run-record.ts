import { type Fact, RunLog, type RunView, type StreamEvent, type StreamRewound, isFact } from '@rondo/client';
import { type RunDetails, addFact, newDetails } from './run-details.ts';

/** A run as some of its events show it. It is reduced outside of React, so that a fast stream costs no rendering. */
export class RunRecord {
  private readonly log = new RunLog();
  private known = newDetails();
  private shown: RunDetails | undefined;

  apply(event: StreamEvent): void {
    const lastSeq = this.log.lastSeq;
    this.log.apply(event);
    if (!isFact(event) || event.seq <= lastSeq) return;
    addFact(this.known, event);
    this.shown = undefined;
  }

  /** Facts from a place on are not in the log any more; those before it are these. */
  rewind(event: StreamRewound, kept: readonly Fact[]): void {
    this.log.apply(event);
    this.known = newDetails();
    this.shown = undefined;
    for (const fact of kept) addFact(this.known, fact);
  }

  get view(): RunView {
    return this.log.view;
  }

  /** They do not change, but for their maps, which grow with the run. */
  get details(): RunDetails {
    this.shown ??= { ...this.known };
    return this.shown;
  }

  get lastSeq(): number {
    return this.log.lastSeq;
  }

  get lastEpoch(): number {
    return this.log.lastEpoch;
  }
}

/** The run as it was after each of its facts. Going forward costs the facts in between, going back those from the beginning. */
export class RunHistory {
  private record = new RunRecord();
  private applied = 0;

  at(seq: number, facts: readonly Fact[]): RunRecord {
    const wanted = facts.findLastIndex((fact) => fact.seq <= seq) + 1;
    if (wanted < this.applied) {
      this.record = new RunRecord();
      this.applied = 0;
    }
    for (const fact of facts.slice(this.applied, wanted)) this.record.apply(fact);
    this.applied = wanted;
    return this.record;
  }
}
