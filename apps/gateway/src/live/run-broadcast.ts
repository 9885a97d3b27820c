import type { DeltaEvent, EventId, RunEvent, RunId } from '@rondo/contract';
import type { RunAddress, RunHolder } from '@rondo/persistence';
import type { RunSubscriber } from './run-subscriber';
import { ImplausibleFact, FactPlausibility } from './fact-plausibility';
import type { RunSources, LoggedEvent } from './run-sources';
import { ReceivedStreams, type StreamBounds } from './received-streams';
import { endsRun } from './stream-of';
import { type StreamNotice, type WatchEvent, isNotice, coveredSeq } from './stream-notices';

export interface RunBroadcastSettings {
  readonly streams: StreamBounds;
  /** Events that wait for a missing one. Beyond it they are dropped, and the log heals what they said. */
  readonly heldEvents: number;
  /** How long a start waits for the feed's subscription. Later the log and the poll do the work alone. */
  readonly feedReadyMs: number;
  readonly mint: () => EventId;
  readonly onTrouble: (error: unknown) => void;
}

/** Who told of an event, and its JSON where it came as that. */
interface Origin {
  readonly from?: 'feed' | 'holder' | 'log';
  readonly json?: string | undefined;
}

interface DeltaOrigin {
  readonly from: 'feed' | 'holder';
  readonly json: string | undefined;
}

const repairRounds = 3;
/** Before it begins nothing that the log holds is news. */
const unknown = Infinity;

/**
 * One run while somebody in this process watches it. It knows the log up to `head` and what the open streams have
 * said since, and passes everything on at once, in order.
 *
 * Facts come from the feed when it works and from the log whenever a seq is missing; what comes twice is told apart
 * by its seq, or by its offset within a stream. A follower joins in one synchronous step, at the moment when it has
 * read the log exactly as far as this has: so nothing falls between reading and listening, and nothing overlaps.
 *
 * It listens before anybody reads, or before there is a run. What it hears waits until the first follower has come to the
 * log's end, which is where it begins.
 */
export class RunBroadcast {
  private readonly followers = new Set<RunSubscriber>();
  private readonly feed: ReturnType<RunSources['watch']>;
  private heard: Promise<void> | undefined;
  private streams: ReceivedStreams;
  private readonly past = new FactPlausibility();
  private held: RunEvent[] = [];
  private repairing: Promise<void> | undefined;
  private quietSince = performance.now();

  private head = unknown;

  constructor(
    private readonly run: RunAddress,
    private readonly sources: RunSources,
    private readonly settings: RunBroadcastSettings,
  ) {
    this.streams = this.streamsSince(0);
    this.feed = sources.watch(run.runId, (event, json) => this.receive(event, json));
  }

  /** Resolves when whoever reads the log from then on misses nothing between it and the feed. */
  listening(): Promise<void> {
    return (this.heard ??= withinMs(this.feed.ready(), this.settings.feedReadyMs));
  }

  get runId(): RunId {
    return this.run.runId;
  }

  get knownHead(): number {
    return this.head;
  }

  /** With the first that has read the log to its end. The run's holder, if there is one, may have streams open from before. */
  begin(follower: RunSubscriber, holder: RunHolder | undefined): void {
    if (this.head !== unknown) return;
    this.head = follower.position;
    this.streams = this.streamsSince(this.head);
    this.join(follower);
    this.retryHeld();
    if (holder) void this.mend(() => this.hearHolder(holder));
    else if (this.held.length > 0) void this.mend();
  }

  /** False when the follower must read the log first. */
  join(follower: RunSubscriber): boolean {
    if (follower.position !== this.head) return false;
    this.followers.add(follower);
    for (const delta of this.streams.missing((stream) => follower.heard(stream))) this.tell(follower, delta);
    return true;
  }

  leave(follower: RunSubscriber): void {
    this.followers.delete(follower);
  }

  /** Takes what somebody read from the log. */
  learn(events: readonly LoggedEvent[]): void {
    for (const event of events) {
      if (isNotice(event)) this.takeNotice(event);
      else this.takeFromLog(event);
    }
  }

  private takeFromLog(event: RunEvent): void {
    this.past.note(event);
    this.take(event, { from: 'log' });
  }

  /** Reads the log to its end. Rejects where it cannot be read. */
  catchUp(): Promise<void> {
    return this.repair();
  }

  /** It has begun, and nothing was heard of it for so long. */
  isQuiet(ms: number): boolean {
    return this.head !== unknown && performance.now() - this.quietSince >= ms;
  }

  /**
   * Finds what the feed lost at the end, where no later event shows the gap. `logHead` is the last seq of its log; undefined
   * where there is no such run any more.
   */
  async poll(logHead: number | undefined): Promise<void> {
    this.quietSince = performance.now();
    if (logHead === this.head && this.held.length === 0) return;
    await this.mend();
  }

  close(): void {
    this.feed.stop();
    this.followers.clear();
    this.held = [];
  }

  private streamsSince(head: number): ReceivedStreams {
    return new ReceivedStreams(head, this.settings.streams, this.settings.mint);
  }

  private async hearHolder(holder: RunHolder): Promise<void> {
    await this.askHolder(holder);
    this.retryHeld();
    if (this.held.length > 0) await this.fillGaps();
  }

  private receive(event: RunEvent, json: string | undefined): void {
    this.quietSince = performance.now();
    const hasBegun = this.head !== unknown;
    if (hasBegun && this.take(event, { json })) return;
    if (this.held.length >= this.settings.heldEvents) this.held = [];
    this.held.push(event);
    if (hasBegun) void this.mend();
  }

  /** False when something before this event is missing. What cannot be a fact of this run is dropped. */
  private take(event: RunEvent, { from = 'feed', json }: Origin = {}): boolean {
    if (event.seq === null) return this.takeDelta(event, { from: from === 'holder' ? from : 'feed', json });
    if (event.seq <= this.head) return true;
    if (event.seq > this.head + 1) return false;
    if (from !== 'log' && !this.past.allows(event)) {
      this.settings.onTrouble(new ImplausibleFact(`${event.type} ${event.id}`));
      return true;
    }

    this.past.note(event);
    this.head = event.seq;
    this.streams.close(event);
    this.tellAll(event, json);
    if (endsRun(event)) this.close();
    return true;
  }

  private takeNotice(notice: StreamNotice): void {
    if (coveredSeq(notice) <= this.head) return;
    this.tellAll(notice);
    if (notice.type === 'stream.snapshot') this.head = coveredSeq(notice);
  }

  private takeDelta(delta: DeltaEvent, { from, json }: DeltaOrigin): boolean {
    if (delta.after_seq > this.head) return false;
    const reception = this.streams.receive(delta, from);
    if (reception === 'torn') return false;
    if (reception !== 'stale') this.tellAll(reception.news, reception.news === delta ? json : undefined);
    return true;
  }

  private tellAll(event: WatchEvent, asItCame?: string): void {
    if (this.followers.size === 0) return;
    const json = asItCame ?? JSON.stringify(event);
    for (const follower of this.followers) this.tell(follower, event, json);
  }

  private tell(follower: RunSubscriber, event: WatchEvent, json = JSON.stringify(event)): void {
    if (!follower.deliver(event, json)) this.leave(follower);
  }

  /** One repair at a time: the log first, then the streams, then what waited for them. */
  private repair(how = () => this.fillGaps()): Promise<void> {
    this.repairing ??= how().finally(() => (this.repairing = undefined));
    return this.repairing;
  }

  /** The same, where nobody waits for it: what fails now is tried again when more is heard, or by the poll. */
  private mend(how?: () => Promise<void>): Promise<void> {
    return this.repair(how).catch(this.settings.onTrouble);
  }

  private async fillGaps(): Promise<void> {
    await this.readLog();
    this.retryHeld();
    for (let round = 0; round < repairRounds && this.held.length > 0; round += 1) {
      if (this.torn().length > 0) await this.askHolder(await this.sources.holderOf(this.run));
      await this.readLog();
      this.retryHeld();
    }
    for (const delta of this.torn()) this.streams.giveUp(delta);
    this.retryHeld();
  }

  private retryHeld(): void {
    this.held = this.held.filter((event) => !this.take(event));
  }

  /** What waits for text, not for a fact. */
  private torn(): DeltaEvent[] {
    return this.held.filter((event) => event.seq === null && event.after_seq <= this.head) as DeltaEvent[]; // by `seq`
  }

  private async readLog(): Promise<void> {
    let isRead = false;
    while (!isRead) {
      const { events, isEnd } = await this.sources.factsAfter(this.run, this.head);
      this.learn(events);
      isRead = isEnd;
    }
  }

  private async askHolder(holder: RunHolder | undefined): Promise<void> {
    if (!holder) return;
    const deltas = await this.sources.openStreams(this.run, holder);
    this.held.push(...deltas.filter((delta) => !this.take(delta, { from: 'holder' })));
  }
}

/** Waits for a promise that may never settle, and not longer than this. */
async function withinMs(promise: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)));
  await Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
