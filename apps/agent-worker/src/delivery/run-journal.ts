import {
  type Delta,
  type DeltaEvent,
  type NewFact,
  type RecordedFact,
  type RunEvent,
  isTerminalFact,
} from '@rondo/contract';
import { type Claim, type FactsStep, type RunStore, StopPendingError } from '@rondo/domain';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterImmediates } from '@rondo/platform';
import { DeltaFrames } from './delta-frames';
import { SentStreams } from './sent-streams';

/** Where a run's events go after they are true. Never throws: watchers read the log when they miss something. */
export interface RunFeed {
  publish(events: readonly RunEvent[]): void;
}

export interface JournalParts {
  readonly store: RunStore;
  readonly feed: RunFeed;
  readonly settings: JournalSettings;
  /** Called when a write fails that no caller awaits. Nothing is shown or written after it. */
  readonly failed: (error: Error) => void;
}

export interface JournalSettings {
  readonly frameMs: number;
  readonly newEventId: () => DeltaEvent['id'];
  readonly now: () => string;
}

/**
 * The one writer of a run while it is held. Facts are committed first and shown after; deltas are only shown. What is
 * shown is in one order: deltas never overtake a fact, nor facts the deltas before them.
 */
export class RunJournal {
  private readonly streams = new SentStreams();
  lastSeq: number;
  private readonly frames: DeltaFrames;
  private held: NewFact[] = [];
  /** The write that the loop does not wait for, and what was said since it began. */
  private underWay: Promise<void> | undefined;
  private saidMeanwhile: Delta[] = [];
  private iteration: number;
  private spokeAtMs = -Infinity;

  constructor(
    private readonly claim: Claim & { run: { last_seq: number; iteration: number } },
    private readonly parts: JournalParts,
  ) {
    this.lastSeq = claim.run.last_seq;
    this.iteration = claim.run.iteration;
    this.frames = new DeltaFrames((delta) => this.show(delta), parts.settings.frameMs);
  }

  /** Set once a fact ended this claim: the run is over, or it waits for a person or for the summarizer. */
  claimEnded: 'ended' | 'parked' | undefined;

  publishDelta(delta: Delta): void {
    if (this.underWay) this.saidMeanwhile.push(delta);
    else this.frames.push(delta);
  }

  /**
   * Commits the facts; held ones wait for the next that are not, so that both are one transaction. It does not wait for
   * those that are written meanwhile: what is said until then is shown after them, and the next facts follow them.
   */
  async write({ facts, hold, meanwhile }: FactsStep): Promise<void> {
    if (this.underWay) await this.underWay;
    this.held.push(...facts);
    if (meanwhile) this.begin();
    else if (!hold) await this.conclude();
  }

  async commit(): Promise<void> {
    await this.underWay;
    await this.commitHeld();
  }

  /**
   * Deltas that were just published are on their way to subscribers, through processes that may share this one's core, so
   * the write of a reply's end lets them go first. The write of a reply that calls a tool does not: the run waits for it.
   */
  private async conclude(): Promise<void> {
    const speaks = performance.now() - this.spokeAtMs < wordsMs;
    if (speaks && !this.held.some(({ type }) => type === 'tool.planned')) await sleep(wordsMs);
    await this.commitHeld();
  }

  /** Resolves, and never rejects, when no write is under way. */
  async settled(): Promise<void> {
    await this.underWay?.catch(() => undefined); // `failed` has reported it
  }

  /** The request to the model, on which the user waits, leaves before the write, on which no one does. */
  private begin(): void {
    this.underWay = afterImmediates()
      .then(() => this.commitHeld())
      .then(() => this.catchUp());
    this.underWay.catch(this.parts.failed);
  }

  private catchUp(): void {
    this.underWay = undefined;
    for (const delta of this.saidMeanwhile.splice(0)) this.frames.push(delta);
  }

  private async commitHeld(): Promise<void> {
    this.frames.flush();
    if (this.held.length === 0) return;

    const facts = this.held;
    this.held = [];
    try {
      await this.append(facts);
    } catch (error) {
      if (error instanceof StopPendingError) await this.append(facts.filter((fact) => !claimEnd(fact)));
      throw error;
    }
  }

  /** A stop that was first refuses the end of the run; what was said before that end stays true. */
  private async append(facts: readonly NewFact[]): Promise<void> {
    const recorded = facts.length > 0 ? await this.parts.store.append(this.claim, facts) : [];
    recorded.forEach((fact) => this.note(fact));
    this.parts.feed.publish(recorded);
  }

  /** What was said on streams that no fact has superseded yet, pending frames left out. */
  streamsSoFar() {
    return this.streams.soFar().map(({ streamId, afterSeq, about, ...stream }) => ({
      ...stream,
      stream_id: streamId,
      after_seq: afterSeq,
      epoch: this.claim.epoch,
      data: about,
    }));
  }

  private note(fact: RecordedFact): void {
    this.lastSeq = fact.seq;
    this.iteration = fact.iteration;
    this.streams.supersede(fact);
    this.claimEnded ??= claimEnd(fact);
  }

  private show(delta: Delta): void {
    const { runId, threadId, epoch } = this.claim;
    const place = this.streams.extend(delta, { iteration: this.iteration, afterSeq: this.lastSeq });
    const event: DeltaEvent = {
      id: this.parts.settings.newEventId(),
      v: 1,
      seq: null,
      type: delta.type,
      run_id: runId,
      thread_id: threadId,
      iteration: this.iteration,
      epoch,
      at: this.parts.settings.now(),
      after_seq: this.lastSeq,
      stream_id: place.stream_id,
      offset: place.offset,
      data: place.data,
    };
    this.parts.feed.publish([event]);
    if (delta.type !== 'tool.call_delta' && delta.type !== 'tool.output') this.spokeAtMs = performance.now();
  }
}

/** About as long as words are on their way on one core. */
const wordsMs = 1;

function claimEnd({ type }: NewFact | RecordedFact): 'ended' | 'parked' | undefined {
  if (type === 'run.waiting' || type === 'context.compaction_started') return 'parked';
  return isTerminalFact({ type }) ? 'ended' : undefined;
}
