import {
  type DeltaEvent,
  type EventId,
  type RecordedFact,
  deltaTextKey,
  isTerminal,
  isTerminalFact,
} from '@rondo/contract';
import { TerminalError, type StreamText, listStoredTexts, toStream, streamsClosedBy, deltaText } from '@rondo/domain';
import type { RunAddress } from '@rondo/persistence';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BroadcastListener, RunBroadcast } from './run-broadcast';
import type { LogPage, Opening, RunSources } from './run-sources';
import { type SubscriberEvent, readCoveredSeq, isNotice } from './stream-notices';

/** The connection of one subscriber. */
export interface Sink {
  /** False: the event was accepted, but the connection is full. Nothing more may be sent until `waitUntilDrained` resolves. */
  send(event: SubscriberEvent, json: string): boolean;
  waitUntilDrained(): Promise<void>;
}

/**
 * `ended`: the terminal fact was sent. `closed`: the subscriber left. `stalled`: it did not read. `deleted`: the run no longer
 * exists. `cut`: the database was replaced, so that the subscriber must come again and say what it has.
 */
export type Ending = 'ended' | 'closed' | 'stalled' | 'deleted' | 'cut';

export interface Subscription {
  readonly address: RunAddress;
  /** The client has the facts up to this seq. */
  readonly after: number;
  /** What was read after it. */
  readonly opening: Opening;
  readonly sink: Sink;
}

export interface SubscriberSettings {
  /** How long a connection may stay full before its subscriber is dropped. */
  readonly stallLimitMs: number;
  readonly retryMs: number;
  readonly newEventId: () => EventId;
  readonly onError: (error: unknown) => void;
  /** Counts what is sent, and how subscriptions end. */
  readonly metrics?: { countEvent(event: SubscriberEvent): void; countEnding(ending: Ending): void };
}

export interface SubscriberParts {
  readonly sources: Pick<RunSources, 'factsAfter'>;
  /** It was receiving from the feed before the opening was read. */
  readonly broadcast: RunBroadcast;
  /** Those of all subscribers. */
  readonly settings: SubscriberSettings;
}

/**
 * One subscriber of one run: it reads the log at its own pace, joins the broadcast when it has reached its head, and
 * leaves it again when the connection is full. So a slow subscriber buffers nothing here: later it resumes from the log.
 */
export class RunSubscriber implements BroadcastListener {
  private readonly address: RunAddress;
  private readonly sink: Sink;
  private readonly sources: SubscriberParts['sources'];
  private readonly broadcast: RunBroadcast;
  private readonly settings: SubscriberSettings;
  private seq: number;
  private readonly offsets = new Map<string, number>();
  /** What was read with the run. Not kept once it is delivered: it is most of what a subscriber would take in memory. */
  private opening: LogPage | undefined;
  private readonly since: Parameters<RunBroadcast['start']>[1];
  private ended: boolean;
  private isClosed = false;
  private isFull = false;
  private isCut = false;
  /** The part of a page that is sent when the connection has drained. */
  private unsent: LogPage | undefined;
  /** It has joined the broadcast and does nothing itself, so that a subscriber without news takes little memory. */
  private isFollowing = false;
  private stopWaitingForDrain: (() => void) | undefined;
  private settle: (ending: Ending | Promise<never>) => void = () => {};

  constructor({ address, after, opening, sink }: Subscription, { sources, broadcast, settings }: SubscriberParts) {
    this.address = address;
    this.sink = sink;
    this.sources = sources;
    this.broadcast = broadcast;
    this.settings = settings;
    const { run, holder, lostFrom } = opening;
    this.seq = Math.min(lostFrom === undefined ? after : lostFrom - 1, run.last_seq);
    this.ended = isTerminal(run.status) && this.seq === run.last_seq;
    this.opening = opening;
    this.since = { epoch: run.epoch, holder };
  }

  get position(): number {
    return this.seq;
  }

  private get isOver(): boolean {
    return this.ended || this.isClosed;
  }

  private get ending(): Ending {
    if (this.isCut) return 'cut';
    if (this.ended) return 'ended';
    return this.isOver ? 'closed' : 'stalled';
  }

  /** Ends it, as when the client unsubscribes. */
  close(): void {
    this.isClosed = true;
    this.wake();
  }

  /** Ends it, since what was sent may not be in the log any more. */
  cut(): void {
    this.isCut = true;
    this.close();
  }

  countSent(stream: string): number {
    return this.offsets.get(stream) ?? 0;
  }

  /** Delivers events until the run or the subscription is over. */
  run(): Promise<Ending> {
    return new Promise((resolve) => {
      this.settle = resolve;
      void this.work();
    });
  }

  /** Reads and sends until it follows the broadcast, or is over. */
  private async work(): Promise<void> {
    try {
      this.deliverOpening();
      while (!this.isOver) {
        if (this.isFull && !(await this.waitForDrain())) break;
        const hasJoined = this.canJoin && this.broadcast.join(this);
        this.isFollowing = hasJoined && !this.isFull && !this.isOver;
        if (this.isFollowing) return;
        if (!hasJoined) await this.advance();
      }
      this.end(this.ending);
    } catch (error) {
      this.end(error instanceof TerminalError ? 'deleted' : Promise.reject(error));
    }
  }

  private end(ending: Ending | Promise<never>): void {
    this.broadcast.leave(this);
    if (typeof ending === 'string') this.settings.metrics?.countEnding(ending);
    this.settle(ending);
  }

  private get canJoin(): boolean {
    return !this.unsent && !this.broadcast.isCut;
  }

  private wake(): void {
    this.stopWaitingForDrain?.();
    if (!this.isFollowing) return;
    this.isFollowing = false;
    queueMicrotask(() => void this.work()); // the broadcast may be delivering to others
  }

  /** Called by the broadcast, in order. */
  deliver(event: SubscriberEvent, json: string, { isLive } = { isLive: true }): boolean {
    return this.sendMissingText(event, { isLive }) && this.send(event, json);
  }

  /**
   * Sends the text that is missing before the fact that supersedes its deltas, so that the deltas joined are the text also
   * for a client that did not receive some of them (I13). While reading the log, a text of which nothing was sent comes with its
   * fact alone.
   */
  private sendMissingText(event: SubscriberEvent, { isLive }: { isLive: boolean }): boolean {
    if (event.seq === null || event.seq <= this.seq) return true;
    for (const stored of listStoredTexts(event)) {
      const offset = this.countSent(toStream(stored));
      if (offset >= stored.text.length || (offset === 0 && !isLive)) continue;
      const delta = this.toRemainder(stored, { offset, fact: event });
      if (!this.send(delta, JSON.stringify(delta))) return false;
    }
    return true;
  }

  private toRemainder(
    { type, stream_id, text }: StreamText,
    { offset, fact }: { offset: number; fact: RecordedFact },
  ): DeltaEvent {
    const { v, run_id, thread_id, iteration, epoch, at } = fact;
    const envelope = { id: this.settings.newEventId(), v, run_id, thread_id, iteration, epoch, at };
    const data = { [deltaTextKey(type)]: text.slice(offset) };
    return { ...envelope, seq: null, type, after_seq: this.seq, stream_id, offset, data };
  }

  private send(event: SubscriberEvent, json: string): boolean {
    if (this.isFull || this.isOver) return false;
    if (this.shouldSkip(event)) return true;

    this.recordSent(event);
    this.settings.metrics?.countEvent(event);
    this.isFull = !this.sink.send(event, json);
    const canContinue = !this.isFull && !this.isOver;
    if (!canContinue) this.wake();
    return canContinue;
  }

  /** Duplicates, and deltas of a stream whose beginning was not sent: its fact carries the whole text. */
  private shouldSkip(event: SubscriberEvent): boolean {
    if (event.type === 'stream.rewound') return false;
    if (isNotice(event)) return readCoveredSeq(event) <= this.seq;
    return event.seq === null ? event.offset !== this.countSent(toStream(event)) : event.seq <= this.seq;
  }

  private recordSent(event: SubscriberEvent): void {
    if (isNotice(event)) {
      if (event.type === 'stream.snapshot') this.seq = readCoveredSeq(event);
      return;
    }
    if (event.seq === null) {
      this.offsets.set(toStream(event), event.offset + deltaText(event).length);
      return;
    }
    this.seq = event.seq;
    if (this.offsets.size > 0) for (const stream of streamsClosedBy(event)) this.offsets.delete(stream);
    this.ended = isTerminalFact(event);
  }

  /** Sends what is left of a page, or reads the next one. */
  private async advance(): Promise<void> {
    if (this.broadcast.isCut) {
      this.cut(); // it was before this subscriber had joined it
      return;
    }
    if (this.unsent) {
      this.deliverPage(this.unsent);
      return;
    }
    try {
      await this.readNextPage();
    } catch (error) {
      if (error instanceof TerminalError) throw error;
      this.settings.onError(error);
      await sleep(this.settings.retryMs);
    }
  }

  private deliverOpening(): void {
    const { opening } = this;
    this.opening = undefined;
    if (opening && !this.isOver) this.deliverPage(opening);
  }

  private async readNextPage(): Promise<void> {
    if (this.seq > this.broadcast.knownHead) return this.broadcast.catchUp();
    this.deliverPage(await this.sources.factsAfter(this.address, this.seq));
  }

  private deliverPage({ events, isEnd }: LogPage): void {
    this.unsent = undefined;
    this.broadcast.applyLog(events);
    for (const [index, event] of events.entries()) {
      if (this.deliver(event, JSON.stringify(event), { isLive: false })) continue;
      this.unsent = { events: events.slice(index), isEnd };
      return;
    }
    if (isEnd) this.broadcast.start(this, this.since);
  }

  /** False when the connection stayed full for too long, or the subscriber was closed. */
  private async waitForDrain(): Promise<boolean> {
    const over = new AbortController();
    this.stopWaitingForDrain = () => over.abort();
    const limit = sleep(this.settings.stallLimitMs, false, { signal: over.signal }).catch(() => false);
    const drained = await Promise.race([this.sink.waitUntilDrained().then(() => true), limit]);
    over.abort();
    this.stopWaitingForDrain = undefined;
    this.isFull = !drained;
    return drained;
  }
}
