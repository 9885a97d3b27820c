import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Delta,
  type DeltaEvent,
  type NewFact,
  type RecordedFact,
  isTerminalFact,
  type DeltaType,
  deltaTextKey,
} from '@rondo/contract';
import {
  type Claim,
  type FactsStep,
  type RunFeed,
  type RunStore,
  isOverruled,
  withoutEnd,
  toStream,
  streamsClosedBy,
} from '@rondo/domain';
import { afterImmediates } from '@rondo/platform';

interface JournalParts {
  readonly store: RunStore;
  readonly feed: Pick<RunFeed, 'publish'>;
  readonly settings: JournalSettings;
  /** Called when a write fails that the loop does not wait for. Nothing is published or written after it. */
  readonly failed: (error: Error) => void;
}

export interface JournalSettings {
  readonly frameMs: number;
  readonly newEventId: () => DeltaEvent['id'];
  readonly now: () => string;
}

/**
 * The only writer of a run while it is claimed. Facts are committed and then published; deltas are only published. The
 * order is kept: deltas never overtake a fact, nor facts the deltas before them.
 */
export class RunJournal {
  private readonly streams = new SentStreams();
  lastSeq: number;
  private readonly frames: DeltaFrames;
  private held: NewFact[] = [];
  /** The write that the loop does not wait for, and the deltas since it began. */
  private underWay: Promise<void> | undefined;
  private deltasMeanwhile: Delta[] = [];
  private iteration: number;
  private lastDeltaAtMs = -Infinity;

  constructor(
    private readonly claim: Claim & { run: { last_seq: number; iteration: number } },
    private readonly parts: JournalParts,
  ) {
    this.lastSeq = claim.run.last_seq;
    this.iteration = claim.run.iteration;
    this.frames = new DeltaFrames((delta) => this.show(delta), parts.settings.frameMs);
  }

  /** Set once a fact has ended the claim: the run has ended, or waits for a person or a summarizer. */
  claimEnded: 'ended' | 'parked' | undefined;

  publishDelta(delta: Delta): void {
    if (this.underWay) this.deltasMeanwhile.push(delta);
    else this.frames.push(delta);
  }

  /**
   * Commits the facts. Held ones wait for the next facts that are not held, so that both are one transaction. It does not
   * wait for facts marked `meanwhile`: deltas until their commit are published after them, and the next facts follow them.
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
   * The last deltas of a reply may still be on their way to subscribers, through processes that share this one's core. The
   * commit waits for them, unless the reply calls a tool: then the run itself waits for the commit.
   */
  private async conclude(): Promise<void> {
    const isReplying = performance.now() - this.lastDeltaAtMs < deltaTransitMs;
    if (isReplying && !this.held.some(({ type }) => type === 'tool.planned')) await sleep(deltaTransitMs);
    await this.commitHeld();
  }

  /** Resolves, and never rejects, when no write is under way. */
  async waitForWrites(): Promise<void> {
    await this.underWay?.catch(() => undefined); // `failed` has the error
  }

  /** Sends the request to the model before it writes: a user waits for the reply, but not for these facts. */
  private begin(): void {
    this.underWay = afterImmediates()
      .then(() => this.commitHeld())
      .then(() => this.catchUp());
    this.underWay.catch(this.parts.failed);
  }

  private catchUp(): void {
    this.underWay = undefined;
    for (const delta of this.deltasMeanwhile.splice(0)) this.frames.push(delta);
  }

  private async commitHeld(): Promise<void> {
    this.frames.flush();
    if (this.held.length === 0) return;

    const facts = this.held;
    this.held = [];
    try {
      await this.append(facts);
    } catch (error) {
      if (isOverruled(error)) await this.append(withoutEnd(facts, error));
      throw error;
    }
  }

  /** After a stop request, or a change from outside, the store refuses the end of the run; the other facts are written. */
  private async append(facts: readonly NewFact[]): Promise<void> {
    const recorded = facts.length > 0 ? await this.parts.store.append(this.claim, facts) : [];
    recorded.forEach((fact) => this.note(fact));
    this.parts.feed.publish(recorded);
  }

  /** The text of streams that no fact has superseded, without pending frames. */
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
    if (delta.type !== 'tool.call_delta' && delta.type !== 'tool.output') this.lastDeltaAtMs = performance.now();
  }
}

/** About how long a delta is on its way on one core. */
const deltaTransitMs = 1;

function claimEnd({ type }: NewFact | RecordedFact): 'ended' | 'parked' | undefined {
  if (type === 'run.waiting' || type === 'context.compaction_started') return 'parked';
  return isTerminalFact({ type }) ? 'ended' : undefined;
}

/**
 * Joins small deltas into frames: subscribers get the first piece at once and then a frame per interval, since a packet per
 * token would cost more than the tokens. The order across streams is kept.
 */
export class DeltaFrames {
  private pending: Delta[] = [];
  private timer: NodeJS.Timeout | undefined;
  private sentAtMs = -Infinity;

  constructor(
    private readonly send: (delta: Delta) => void,
    private readonly frameMs: number,
  ) {}

  push(delta: Delta): void {
    const last = this.pending.at(-1);
    if (last && continues(last, delta))
      this.pending[this.pending.length - 1] = { ...last, text: last.text + delta.text };
    else this.pending.push(delta);

    if (!this.timer) this.sendInTime();
  }

  /** Sends what is pending now: facts must not overtake the deltas before them. */
  flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.sentAtMs = -Infinity;
    const frame = this.pending;
    this.pending = [];
    frame.forEach(this.send);
  }

  /** There is a timer only where something waits: most models leave more than a frame between two tokens. */
  private sendInTime(): void {
    const waitMs = this.sentAtMs + this.frameMs - performance.now();
    if (waitMs > 0) this.timer = setTimeout(() => this.sendFrame(), waitMs);
    else this.sendFrame();
  }

  private sendFrame(): void {
    this.flush();
    this.sentAtMs = performance.now();
  }
}

const continues = (last: Delta, next: Delta): boolean =>
  last.streamId === next.streamId && last.type === next.type && last.channel === next.channel;

/** A stream that no fact has superseded yet, with its text so far. */
interface OpenStream {
  readonly type: DeltaType;
  readonly streamId: string;
  readonly iteration: number;
  readonly afterSeq: number;
  text: string;
  readonly about: Record<string, string>;
}

/** The open streams of one run: the offset of the next delta, and the text so far for subscribers that join late. */
export class SentStreams {
  private readonly streams = new Map<string, OpenStream>();

  /** Appends a delta to its stream. Returns its offset and its data, ready for the wire. */
  extend(delta: Delta, at: { iteration: number; afterSeq: number }): Pick<DeltaEvent, 'stream_id' | 'offset' | 'data'> {
    const key = toStream({ type: delta.type, stream_id: delta.streamId });
    const about = describeStreams(delta);
    const stream = this.streams.get(key) ?? { type: delta.type, streamId: delta.streamId, ...at, text: '', about };
    this.streams.set(key, stream);

    const offset = stream.text.length;
    stream.text += delta.text;
    return { stream_id: delta.streamId, offset, data: { ...about, [deltaTextKey(delta.type)]: delta.text } };
  }

  /** A restarted iteration and the end of the run end every stream; other facts end those of what they store. */
  supersede(fact: RecordedFact): void {
    if (fact.type === 'iteration.restarted' || isTerminalFact(fact)) this.streams.clear();
    else for (const stream of streamsClosedBy(fact)) this.streams.delete(stream);
  }

  soFar(): readonly OpenStream[] {
    return [...this.streams.values()];
  }
}

const describeStreams = ({ channel, name }: Delta): Record<string, string> => ({
  ...(channel && { stream: channel }),
  ...(name && { name }),
});
