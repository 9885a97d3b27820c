import { type DeltaEvent, type EventId, type RecordedFact, deltaTextKey } from '@rondo/contract';
import { TerminalError } from '@rondo/domain';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RunBroadcast } from './run-broadcast';
import type { LogPage, Opening } from './run-sources';
import { type StreamText, endsRun, storedTexts, streamOf, streamsClosedBy, textOf } from './stream-of';
import { type WatchEvent, isNotice, coveredSeq } from './stream-notices';

/** One watcher's wire. */
export interface Sink {
  /** False: it was taken, but the wire is full. Nothing more may be sent until `drained` resolves. */
  send(event: WatchEvent, json: string): boolean;
  drained(): Promise<void>;
}

/** `ended`: the terminal fact was sent. `closed`: the watcher left. `stalled`: it did not read. `gone`: the run was deleted. */
export type Ending = 'ended' | 'closed' | 'stalled' | 'gone';

export interface Subscription {
  /** Facts up to this seq are known already. */
  readonly after: number;
  /** What was read after it. */
  readonly opening: Opening;
  readonly sink: Sink;
  readonly signal: AbortSignal;
}

export interface SubscriberSources {
  factsAfter(after: number): Promise<LogPage>;
  /** It was listening already when the opening was read. */
  readonly live: RunBroadcast;
  /** How long a full wire may stay full before its watcher is dropped. */
  readonly stallLimitMs: number;
  readonly retryMs: number;
  readonly mint: () => EventId;
  readonly onTrouble: (error: unknown) => void;
}

/**
 * One watcher of one run: it reads the log at its own pace, joins the live run when it has reached its head, and
 * leaves it again when the wire is full. So a slow watcher costs nothing but its place (R22).
 */
export class RunSubscriber {
  private readonly sink: Sink;
  private readonly signal: AbortSignal;
  private seq: number;
  private readonly offsets = new Map<string, number>();
  private readonly live: RunBroadcast;
  private readonly opening: Opening;
  private ended = false;
  private left = false;
  private full = false;
  /** What of a page is still to be sent when the wire is free again. */
  private rest: LogPage | undefined;
  private part: () => void = () => {};

  constructor(
    { after, opening, sink, signal }: Subscription,
    private readonly sources: SubscriberSources,
  ) {
    this.seq = after;
    this.opening = opening;
    this.live = sources.live;
    this.sink = sink;
    this.signal = signal;
  }

  /** The last seq that was sent. */
  get position(): number {
    return this.seq;
  }

  private get isOver(): boolean {
    return this.ended || this.left || this.signal.aborted;
  }

  private get ending(): Ending {
    if (this.ended) return 'ended';
    return this.isOver ? 'closed' : 'stalled';
  }

  /** Ends it, as when the watcher leaves. */
  leave(): void {
    this.left = true;
    this.part();
  }

  /** How much of a stream was sent. */
  heard(stream: string): number {
    return this.offsets.get(stream) ?? 0;
  }

  async follow(): Promise<Ending> {
    const onAbort = () => this.leave();
    this.signal.addEventListener('abort', onAbort);
    try {
      if (!this.isOver) this.take(this.opening);
      while (!this.isOver) {
        if (this.full && !(await this.drains())) break;
        await this.advance();
      }
      return this.ending;
    } catch (error) {
      if (error instanceof TerminalError) return 'gone';
      throw error;
    } finally {
      this.signal.removeEventListener('abort', onAbort);
      this.live.leave(this);
    }
  }

  /** Called by the live run, in order. False when it must not tell more: the wire is full, or the run is over. */
  deliver(event: WatchEvent, json: string, { isLive } = { isLive: true }): boolean {
    return this.fill(event, { isLive }) && this.send(event, json);
  }

  /**
   * Says what is missing of a text before the fact that supersedes its deltas, so that these joined are the text also for
   * a watcher whom some never reached (I13). One who reads the log gets a text that it heard nothing of from its fact.
   */
  private fill(event: WatchEvent, { isLive }: { isLive: boolean }): boolean {
    if (event.seq === null || event.seq <= this.seq) return true;
    for (const stored of storedTexts(event)) {
      const heard = this.heard(streamOf(stored));
      if (heard >= stored.text.length || (heard === 0 && !isLive)) continue;
      const delta = this.remainderOf(stored, { heard, fact: event });
      if (!this.send(delta, JSON.stringify(delta))) return false;
    }
    return true;
  }

  private remainderOf(
    { type, stream_id, text }: StreamText,
    { heard: offset, fact }: { heard: number; fact: RecordedFact },
  ): DeltaEvent {
    const { v, run_id, thread_id, iteration, epoch, at } = fact;
    const envelope = { id: this.sources.mint(), v, run_id, thread_id, iteration, epoch, at };
    const data = { [deltaTextKey(type)]: text.slice(offset) };
    return { ...envelope, seq: null, type, after_seq: this.seq, stream_id, offset, data };
  }

  private send(event: WatchEvent, json: string): boolean {
    if (this.full || this.isOver) return false;
    if (this.passesOver(event)) return true;

    this.note(event);
    this.full = !this.sink.send(event, json);
    const goesOn = !this.full && !this.isOver;
    if (!goesOn) this.part();
    return goesOn;
  }

  /** What it knows, and streams whose beginning it never heard: those are left to their facts. */
  private passesOver(event: WatchEvent): boolean {
    if (isNotice(event)) return coveredSeq(event) <= this.seq;
    return event.seq === null ? event.offset !== this.heard(streamOf(event)) : event.seq <= this.seq;
  }

  private note(event: WatchEvent): void {
    if (isNotice(event)) {
      if (event.type === 'stream.snapshot') this.seq = coveredSeq(event);
      return;
    }
    if (event.seq === null) {
      this.offsets.set(streamOf(event), event.offset + textOf(event).length);
      return;
    }
    this.seq = event.seq;
    if (this.offsets.size > 0) for (const stream of streamsClosedBy(event)) this.offsets.delete(stream);
    this.ended = endsRun(event);
  }

  /** Joins and stays until it parts, or reads the next page of the log. */
  private async advance(): Promise<void> {
    if (this.rest) {
      this.take(this.rest);
      return;
    }
    const parted = new Promise<void>((resolve) => (this.part = resolve));
    if (this.live.join(this)) {
      if (!this.full && !this.isOver) await parted;
      return;
    }
    try {
      await this.readOn();
    } catch (error) {
      if (error instanceof TerminalError) throw error;
      this.sources.onTrouble(error);
      await sleep(this.sources.retryMs);
    }
  }

  private async readOn(): Promise<void> {
    if (this.seq > this.live.knownHead) return this.live.catchUp();
    this.take(await this.sources.factsAfter(this.seq));
  }

  private take({ events, isEnd }: LogPage): void {
    this.rest = undefined;
    this.live.learn(events);
    for (const [index, event] of events.entries()) {
      if (this.deliver(event, JSON.stringify(event), { isLive: false })) continue;
      this.rest = { events: events.slice(index), isEnd };
      return;
    }
    if (isEnd) this.live.begin(this, this.opening.holder);
  }

  /** False when the wire stayed full for too long, or the watcher left. */
  private async drains(): Promise<boolean> {
    const over = new AbortController();
    this.part = () => over.abort();
    const limit = sleep(this.sources.stallLimitMs, false, { signal: over.signal }).catch(() => false);
    const drained = await Promise.race([this.sink.drained().then(() => true), limit]);
    over.abort();
    this.full = !drained;
    return drained;
  }
}
