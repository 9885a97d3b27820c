import { setTimeout as sleep } from 'node:timers/promises';
import {
  type RunEvent,
  type RunId,
  type ThreadId,
  isTerminalFact,
  deltaType,
  factTypes,
  readJson,
} from '@rondo/contract';
import { type RunFeed, type RunWatch, eventJson } from '@rondo/domain';
import type { NatsLink } from '../connection/nats-link';
import { isUnsolicited } from '../connection/received';

const readyTimeoutMs = 1_000;
/** How many characters of events are kept that are published while NATS is away. */
export const keptCharacters = 4_000_000;
/**
 * The limit of one message, unless a single event is longer. Even in bytes it stays below a NATS server's default limit of
 * one megabyte; ours is configured with eight.
 */
const messageCharacters = 250_000;
/** How long text deltas, and facts before a pause, wait at most if this process has just sent others. */
const textDelayMs = 10;
/** How long other events wait: often a busy worker's turn is one message then, sent while the model thinks. */
const otherDelayMs = 15;
/** Every flush also sends the runs that would be due within this time. */
const flushAheadMs = 10;
/** How long the server may go on sending to a watch that has ended, until it is told together with other messages. */
const unsubscribeDelayMs = 100;

/** The events of a run that wait to be sent. */
interface Batch {
  readonly events: RunEvent[];
  dueMs: number;
  hasText: boolean;
  hasPause: boolean;
}

/**
 * Publishes the events of runs to their subscribers, at most once: Postgres has the facts, and a subscriber that misses a
 * `seq` reads it there (I1). While NATS is away the newest events are kept, a few megabytes, so that subscribers notice on
 * its return what they have missed.
 *
 * The events of a run are sent in batches, one message with a line of JSON for each event: every message costs each process
 * on its path a write and a wake-up, however small it is. The first text is sent at once, with everything before it; text
 * within a few milliseconds of other text of this process waits. So it is with facts before a pause, when the model has been asked,
 * or the run has ended: an idle process needs no timer for them. Other facts and the arguments of calls always wait: queue, worker and
 * executor are informed in other ways, and sending to subscribers would delay those.
 */
export class NatsRunFeed implements RunFeed {
  private readonly batches = new Map<RunId, Batch>();
  private flushAtMs = Infinity;
  private textSentAtMs = -Infinity;
  private pauseSentAtMs = -Infinity;
  private kept: { subject: string; text: string }[] = [];
  private keptLength = 0;

  constructor(private readonly nats: NatsLink) {
    nats.onReconnect(() => this.sendKept());
  }

  publish(events: readonly RunEvent[]): void {
    const now = performance.now();
    let dueMs = Infinity;
    for (const event of events) dueMs = Math.min(dueMs, this.enqueue(event, now));
    if (dueMs <= now)
      this.sendDue(now); // not at the end of this turn of the event loop: the rest of the turn may be long
    else this.flushBy(dueMs);
  }

  watch(runId: RunId, onEvent: (event: RunEvent, json: string) => void): RunWatch {
    const { connection, names, writes, log } = this.nats;
    let isStopped = false;
    const subscription = connection.subscribe(names.runEvents(runId), {
      callback: (error, message) => {
        if (isStopped) return;
        if (error) {
          log.error({ runId, error }, 'run feed subscription ended');
          return;
        }
        if (isUnsolicited(message, log)) return;
        for (const line of message.string().split('\n')) {
          const event = parseEvent(line, runId);
          if (event) onEvent(event, line);
          else log.warn({ subject: message.subject }, 'malformed message dropped');
        }
      },
    });
    return {
      ready: () => this.confirmSubscription(),
      stop: () => {
        if (isStopped) return;
        isStopped = true;
        const now = performance.now();
        writes.between(now, now + unsubscribeDelayMs, () => subscription.unsubscribe());
      },
    };
  }

  /**
   * Calls back when a run of the thread may have begun. A message can be lost, so its receiver also looks by itself; what began
   * after `ready` and was not lost is told.
   */
  watchThread(threadId: ThreadId, onRun: () => void): RunWatch {
    const { connection, names, log } = this.nats;
    const subscription = connection.subscribe(names.threadRuns(threadId), {
      callback: (error, message) => {
        if (!error && !isUnsolicited(message, log)) onRun();
      },
    });
    return { ready: () => this.confirmSubscription(), stop: () => subscription.unsubscribe() };
  }

  private async confirmSubscription(): Promise<void> {
    const { connection, connected } = this.nats;
    const isConfirmed =
      connected &&
      (await connection.flush().then(
        () => true,
        () => false, // the connection was lost meanwhile
      ));
    if (!isConfirmed) await sleep(readyTimeoutMs, undefined, { ref: false });
  }

  /** Returns the time by which it must be sent. */
  private enqueue(event: RunEvent, now: number): number {
    const batch = this.batches.get(event.run_id) ?? { events: [], dueMs: Infinity, hasText: false, hasPause: false };
    this.batches.set(event.run_id, batch);
    batch.events.push(event);
    batch.hasText ||= isTextDelta(event);
    batch.hasPause ||= precedesPause(event);
    batch.dueMs = Math.min(batch.dueMs, this.toDueMs(event, now));
    return batch.dueMs;
  }

  private toDueMs(event: RunEvent, now: number): number {
    if (isTextDelta(event)) return this.textSentAtMs + textDelayMs;
    return precedesPause(event) ? this.pauseSentAtMs + textDelayMs : now + otherDelayMs;
  }

  private flushBy(dueMs: number): void {
    if (dueMs >= this.flushAtMs) return;
    this.flushAtMs = dueMs;
    this.nats.writes.at(dueMs, (now) => this.sendDue(now));
  }

  private sendDue(now: number): void {
    let nextMs = Infinity;
    for (const [id, batch] of this.batches) {
      if (batch.dueMs > now + flushAheadMs) {
        nextMs = Math.min(nextMs, batch.dueMs);
        continue;
      }
      this.batches.delete(id);
      if (batch.hasText) this.textSentAtMs = now;
      if (batch.hasPause) this.pauseSentAtMs = now;
      this.sendAll(id, batch.events);
    }
    if (this.flushAtMs <= now) this.flushAtMs = Infinity; // else that flush is still to come
    this.flushBy(nextMs);
  }

  private sendAll(id: RunId, events: readonly RunEvent[]): void {
    const subject = this.nats.names.runEvents(id);
    for (const text of joinLines(events.map(eventJson))) {
      if (this.nats.connected) this.send(subject, text);
      else this.keep(subject, text);
    }
    const started = events.find(({ type }) => type === 'run.started');
    if (started && this.nats.connected) this.send(this.nats.names.threadRuns(started.thread_id), '');
  }

  private send(subject: string, text: string): void {
    const { connection, log } = this.nats;
    try {
      connection.publish(subject, text);
    } catch (error) {
      // Larger than the server accepts, or the connection is closing: subscribers find it in the log.
      log.warn({ subject, length: text.length, error }, 'run event not sent to the feed');
    }
  }

  private keep(subject: string, text: string): void {
    this.kept.push({ subject, text });
    this.keptLength += text.length;
    while (this.keptLength > keptCharacters) this.keptLength -= this.kept.shift()?.text.length ?? 0;
  }

  private sendKept(): void {
    const { kept } = this;
    this.kept = [];
    this.keptLength = 0;
    for (const { subject, text } of kept) this.send(subject, text);
  }
}

/** Text that clients show as it is generated. */
const isTextDelta = ({ type, seq }: RunEvent): boolean => seq === null && type !== 'tool.call_delta';

/** No event follows for now: the model has been asked, or the run has ended or waits for input. */
const precedesPause = (event: RunEvent): boolean =>
  isTerminalFact(event) || event.type === 'run.waiting' || event.type === 'iteration.started';

/** Joins lines into as few texts as the limit allows; a line is never divided. */
function joinLines(lines: readonly string[]): string[] {
  const texts: string[] = [];
  for (const line of lines) {
    const last = texts.at(-1);
    if (last === undefined || last.length + line.length > messageCharacters) texts.push(line);
    else texts[texts.length - 1] = `${last}\n${line}`;
  }
  return texts;
}

/**
 * The event in a line of the feed, or undefined. Its envelope is checked, and the event is left as it was sent: its JSON
 * must be the same to the byte for every reader. Its `data` is trusted, as where the log is read, since only writers of the
 * log may publish. The check is written by hand, because every event of every subscription passes here.
 */
export function parseEvent(line: string, run: RunId): RunEvent | undefined {
  const value = readJson(line);
  if (!isRecord(value) || value['run_id'] !== run || value['v'] !== 1) return undefined;
  if (typeof value['id'] !== 'string' || typeof value['epoch'] !== 'number' || !isRecord(value['data'])) {
    return undefined;
  }
  const isEvent = value['seq'] === null ? isDelta(value) : isFact(value);
  return isEvent ? (value as unknown as RunEvent) : undefined; // as just checked
}

const facts: ReadonlySet<unknown> = new Set(factTypes);
const deltas: ReadonlySet<unknown> = new Set(deltaType.options);

const isFact = ({ type, seq }: Json): boolean => facts.has(type) && isCount(seq) && seq > 0;

const isDelta = ({ type, stream_id, offset, after_seq }: Json): boolean =>
  deltas.has(type) && typeof stream_id === 'string' && isCount(offset) && isCount(after_seq);

type Json = Readonly<Record<string, unknown>>;

const isRecord = (value: unknown): value is Json => typeof value === 'object' && value !== null;
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
