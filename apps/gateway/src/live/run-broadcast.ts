import {
  type DeltaEvent,
  type EventId,
  type Run,
  type RunEvent,
  type RunId,
  isTerminalFact,
  readIncarnation,
} from '@rondo/contract';
import type { RunAddress, RunHolder } from '@rondo/persistence';
import { FactPlausibility, ImplausibleFact } from './fact-plausibility';
import { ReceivedStreams, type StreamBounds } from './received-streams';
import type { LoggedEvent, Opening, RunSources } from './run-sources';
import { type StreamNotice, type SubscriberEvent, readCoveredSeq, isNotice } from './stream-notices';

export interface RunBroadcastSettings {
  readonly streams: StreamBounds;
  /** Events that may wait for a missing one. Beyond it they are dropped; the log and the holder still have them. */
  readonly pendingEvents: number;
  /** How long a start waits for the subscription to the feed. After that, gaps are found from the log and the poll. */
  readonly feedReadyMs: number;
  readonly newEventId: () => EventId;
  readonly onError: (error: unknown) => void;
}

/** One receiver of a broadcast. */
export interface BroadcastListener {
  /** The last seq that was sent to it. */
  readonly position: number;
  /** How much text of a stream was sent to it. */
  countSent(stream: string): number;
  /** False when it takes nothing more: its connection is full, or the run is over. It is then removed. */
  deliver(event: SubscriberEvent, json: string): boolean;
  /** What was sent to it may not be in the log any more. */
  cut(): void;
}

/** Where an event came from, and its JSON if it arrived as that. */
interface Origin {
  readonly from?: 'feed' | 'holder' | 'log';
  readonly json?: string | undefined;
}

interface DeltaOrigin {
  readonly from: 'feed' | 'holder';
  readonly json: string | undefined;
}

const repairAttempts = 3;
/** The head before the start: no fact of the log is newer. */
const notStarted = Infinity;

/**
 * One run while at least one subscriber in this process follows it. It knows the log up to `head` and what the open
 * streams have carried since, and delivers every event at once, in order.
 *
 * Facts come from the feed when it works and from the log whenever a seq is missing; duplicates are recognised by
 * their seq, or by their offset within a stream. A subscriber joins in one synchronous step, at the moment when it has
 * read the log exactly up to this head: so no event is missed between reading and receiving, and none is sent twice.
 *
 * It receives from the feed before the log is read, even before the run exists. Those events are pending until the first
 * subscriber has reached the end of the log, which becomes the head.
 */
export class RunBroadcast {
  private readonly listeners = new Set<BroadcastListener>();
  private readonly feed: ReturnType<RunSources['watch']>;
  private feedReady: Promise<void> | undefined;
  private streams: ReceivedStreams;
  private readonly plausibility = new FactPlausibility();
  private pending: RunEvent[] = [];
  private repairing: Promise<void> | undefined;
  private idleSince = performance.now();
  private onFirstEvent: (() => void) | undefined;

  private head = notStarted;
  private wasCut = false;

  constructor(
    private readonly run: RunAddress,
    private readonly sources: RunSources,
    private readonly settings: RunBroadcastSettings,
  ) {
    this.streams = this.streamsSince(0);
    this.feed = sources.watch(run.runId, (event, json) => this.receive(event, json));
  }

  /** Once it resolves, reading the log and then receiving from the feed misses nothing. */
  ready(): Promise<void> {
    return (this.feedReady ??= withinMs(this.feed.ready(), this.settings.feedReadyMs));
  }

  /** Resolves when the feed has brought an event, and no later than this. */
  async firstEvent(ms: number): Promise<void> {
    if (this.pending.length === 0) await withinMs(new Promise((resolve) => (this.onFirstEvent = resolve)), ms);
  }

  get runId(): RunId {
    return this.run.runId;
  }

  get knownHead(): number {
    return this.head;
  }

  /** Called by the first subscriber that has read the log to its end. The run's holder may have opened streams before. */
  start(listener: BroadcastListener, { epoch, holder }: Pick<Run, 'epoch'> & Pick<Opening, 'holder'>): void {
    if (this.head !== notStarted) return;
    this.plausibility.noteIncarnation(epoch);
    this.head = listener.position;
    this.streams = this.streamsSince(this.head);
    this.join(listener);
    this.retryPending();
    if (holder) void this.repairInBackground(() => this.loadOpenStreams(holder));
    else if (this.pending.length > 0) void this.repairInBackground();
  }

  /** False when the listener must read the log first. */
  join(listener: BroadcastListener): boolean {
    if (listener.position !== this.head) return false;
    this.listeners.add(listener);
    for (const delta of this.streams.missing((stream) => listener.countSent(stream))) this.deliverTo(listener, delta);
    return true;
  }

  leave(listener: BroadcastListener): void {
    this.listeners.delete(listener);
  }

  /** Applies what was read from the log. */
  applyLog(events: readonly LoggedEvent[]): void {
    for (const event of events) {
      if (isNotice(event)) this.applyNotice(event);
      else this.applyLoggedFact(event);
    }
  }

  private applyLoggedFact(event: RunEvent): void {
    this.plausibility.note(event);
    this.apply(event, { from: 'log' });
  }

  /** Reads the log to its end. Rejects where it cannot be read. */
  catchUp(): Promise<void> {
    return this.repair();
  }

  /** It has started, and received nothing for so long. */
  isIdle(ms: number): boolean {
    return this.head !== notStarted && performance.now() - this.idleSince >= ms;
  }

  /**
   * Finds what the feed lost at the end, where no later event reveals the gap. `logHead` is the last seq of the log; undefined
   * where the run no longer exists.
   */
  async poll(logHead: number | undefined): Promise<void> {
    this.idleSince = performance.now();
    if (logHead === this.head && this.pending.length === 0) return;
    await this.repairInBackground();
  }

  /** Whether subscribers were cut, so that those who come again need another broadcast. */
  get isCut(): boolean {
    return this.wasCut;
  }

  /** The database was replaced: each subscriber must come again and say what it has. */
  cut(): void {
    this.wasCut = true;
    for (const listener of this.listeners) listener.cut();
    this.close();
  }

  close(): void {
    this.feed.stop();
    this.listeners.clear();
    this.pending = [];
  }

  private streamsSince(head: number): ReceivedStreams {
    return new ReceivedStreams(head, this.settings.streams, this.settings.newEventId);
  }

  private async loadOpenStreams(holder: RunHolder): Promise<void> {
    await this.requestOpenStreams(holder);
    this.retryPending();
    if (this.pending.length > 0) await this.fillGaps();
  }

  private receive(event: RunEvent, json: string | undefined): void {
    this.idleSince = performance.now();
    const hasStarted = this.head !== notStarted;
    if (hasStarted && this.apply(event, { json })) return;
    if (this.pending.length >= this.settings.pendingEvents) this.pending = [];
    this.pending.push(event);
    this.onFirstEvent?.();
    if (hasStarted) void this.repairInBackground();
  }

  /** False when something before this event is missing. What cannot be a fact of this run is dropped. */
  private apply(event: RunEvent, { from = 'feed', json }: Origin = {}): boolean {
    if (event.seq === null) return this.applyDelta(event, { from: from === 'holder' ? from : 'feed', json });
    if (this.isOfLaterLog(event)) {
      this.cut();
      return true;
    }
    if (event.seq <= this.head) return true;
    if (event.seq > this.head + 1) return false;
    if (from !== 'log' && !this.plausibility.allows(event)) {
      this.settings.onError(new ImplausibleFact(`${event.type} ${event.id}`));
      return true;
    }

    this.plausibility.note(event);
    this.head = event.seq;
    this.streams.close(event);
    this.deliverToAll(event, json);
    if (isTerminalFact(event)) this.close();
    return true;
  }

  /** The database was replaced since the last fact that is known here, which it may lack. */
  private isOfLaterLog({ epoch }: RunEvent): boolean {
    return readIncarnation(epoch) > readIncarnation(this.plausibility.latestEpoch);
  }

  private applyNotice(notice: StreamNotice): void {
    if (notice.type === 'stream.rewound' || readCoveredSeq(notice) <= this.head) return;
    this.deliverToAll(notice);
    if (notice.type === 'stream.snapshot') this.head = readCoveredSeq(notice);
  }

  private applyDelta(delta: DeltaEvent, { from, json }: DeltaOrigin): boolean {
    if (delta.after_seq > this.head) return false;
    const reception = this.streams.receive(delta, from);
    if (reception === 'gap') return false;
    if (reception !== 'duplicate') this.deliverToAll(reception.delta, reception.delta === delta ? json : undefined);
    return true;
  }

  private deliverToAll(event: SubscriberEvent, receivedJson?: string): void {
    if (this.listeners.size === 0) return;
    const json = receivedJson ?? JSON.stringify(event);
    for (const listener of this.listeners) this.deliverTo(listener, event, json);
  }

  private deliverTo(listener: BroadcastListener, event: SubscriberEvent, json = JSON.stringify(event)): void {
    if (!listener.deliver(event, json)) this.leave(listener);
  }

  /** One repair at a time: the log first, then the streams, then the pending events. */
  private repair(how = () => this.fillGaps()): Promise<void> {
    this.repairing ??= how().finally(() => (this.repairing = undefined));
    return this.repairing;
  }

  /** A repair whose failure is only reported: the next event or the poll tries again. */
  private repairInBackground(how?: () => Promise<void>): Promise<void> {
    return this.repair(how).catch(this.settings.onError);
  }

  private async fillGaps(): Promise<void> {
    await this.readLog();
    this.retryPending();
    for (let attempt = 0; attempt < repairAttempts && this.pending.length > 0; attempt += 1) {
      if (this.deltasAfterGap().length > 0) await this.requestOpenStreams(await this.sources.findHolder(this.run));
      await this.readLog();
      this.retryPending();
    }
    for (const delta of this.deltasAfterGap()) this.streams.skipGap(delta);
    this.retryPending();
  }

  private retryPending(): void {
    this.pending = this.pending.filter((event) => !this.apply(event));
  }

  /** Pending deltas that wait for earlier text, not for a fact. */
  private deltasAfterGap(): DeltaEvent[] {
    return this.pending.filter((event) => event.seq === null && event.after_seq <= this.head) as DeltaEvent[]; // by `seq`
  }

  private async readLog(): Promise<void> {
    let isRead = false;
    while (!isRead) {
      const { events, isEnd } = await this.sources.factsAfter(this.run, this.head);
      this.applyLog(events);
      isRead = isEnd;
    }
  }

  private async requestOpenStreams(holder: RunHolder | undefined): Promise<void> {
    if (!holder) return;
    const deltas = await this.sources.openStreams(this.run, holder);
    this.pending.push(...deltas.filter((delta) => !this.apply(delta, { from: 'holder' })));
  }
}

/** Waits for a promise that may never settle, and not longer than this. */
async function withinMs(promise: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)));
  await Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
