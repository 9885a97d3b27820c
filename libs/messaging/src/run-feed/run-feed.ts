import { type RunEvent, type RunId, isTerminalFact } from '@rondo/contract';
import { eventJson } from '@rondo/domain';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NatsLink } from '../connection/nats-link';
import { isUnsolicited } from '../connection/received';
import { receivedEvent } from './received-event';

export interface RunWatch {
  /**
   * Asks the server whether it knows of the watch, and resolves, never rejects, when it does: what is published from then
   * on is heard. While NATS is away it resolves after a second all the same, since then nothing can be heard at all.
   */
  ready(): Promise<void>;
  stop(): void;
}

const readyTimeoutMs = 1_000;
const keptCharacters = 4_000_000;
/**
 * Of one message, unless one event alone is longer. As bytes it stays below the megabyte that a NATS server takes unless
 * it is told otherwise; ours is told eight.
 */
const messageCharacters = 250_000;
/** Words that somebody reads, and the end of a run, which somebody may wait for, leave within so long. */
const hurriedMs = 10;
/** Everything else: often what a busy worker writes of a turn is one message then, and it leaves while the model thinks. */
const patientMs = 15;
/** Whatever leaves takes along what would leave so soon after it. */
const companyMs = 10;
/** For so long the server may go on sending to a watch that has ended, until it is told, with others. */
const partingMs = 100;

interface Gathered {
  readonly events: RunEvent[];
  dueMs: number;
  areWords: boolean;
}

/**
 * Shows a run's events to whoever watches. Fire and forget: the truth is in Postgres, and a watcher that misses a
 * `seq` reads it there (I1). While NATS is away the newest events are kept, a few megabytes, so that watchers notice
 * on its return what they have missed.
 *
 * A run's events leave together in one message, a line of JSON each: every message costs everybody on its way a write
 * and a wake-up, however small it is. The first words leave at once, with all that is before them; in a process that says
 * more than that, what follows waits a few milliseconds. Facts and calls always may: who acts on them has been told
 * otherwise, and while they wait, watchers do not keep those from their work.
 */
export class NatsRunFeed {
  private readonly gathered = new Map<RunId, Gathered>();
  private leaveAtMs = Infinity;
  private wordsLeftAtMs = -Infinity;
  private kept: { subject: string; text: string }[] = [];
  private keptLength = 0;

  constructor(private readonly nats: NatsLink) {
    nats.onReconnect(() => this.sendKept());
  }

  publish(events: readonly RunEvent[]): void {
    const now = performance.now();
    let dueMs = Infinity;
    for (const event of events) dueMs = Math.min(dueMs, this.gather(event, now));
    if (dueMs <= now)
      this.sendDue(now); // not at the end of this turn of the event loop: what is left of it may be long
    else this.leaveBy(dueMs);
  }

  /** Calls back in the order of publication, with the event and its JSON as it was published. */
  watch(watched: RunId, onEvent: (event: RunEvent, json: string) => void): RunWatch {
    const { connection, names, writes, log } = this.nats;
    let isStopped = false;
    const subscription = connection.subscribe(names.runEvents(watched), {
      callback: (error, message) => {
        if (isStopped) return;
        if (error) {
          log.error({ runId: watched, error }, 'run feed subscription ended');
          return;
        }
        if (isUnsolicited(message, log)) return;
        for (const line of message.string().split('\n')) {
          const event = receivedEvent(line, watched);
          if (event) onEvent(event, line);
          else log.warn({ subject: message.subject }, 'malformed message dropped');
        }
      },
    });
    return {
      ready: () => this.known(),
      stop: () => {
        if (isStopped) return;
        isStopped = true;
        const now = performance.now();
        writes.between(now, now + partingMs, () => subscription.unsubscribe());
      },
    };
  }

  private async known(): Promise<void> {
    const { connection, connected } = this.nats;
    const isKnown =
      connected &&
      (await connection.flush().then(
        () => true,
        () => false, // the connection was lost on the way
      ));
    if (!isKnown) await sleep(readyTimeoutMs, undefined, { ref: false });
  }

  /** Answers with the time by which it must leave. */
  private gather(event: RunEvent, now: number): number {
    const gathered = this.gathered.get(event.run_id) ?? { events: [], dueMs: Infinity, areWords: false };
    this.gathered.set(event.run_id, gathered);
    gathered.events.push(event);
    const areWords = isHeard(event);
    gathered.areWords ||= areWords;
    const dueMs = areWords ? this.wordsLeftAtMs + hurriedMs : now + (rests(event) ? hurriedMs : patientMs);
    gathered.dueMs = Math.min(gathered.dueMs, dueMs);
    return gathered.dueMs;
  }

  private leaveBy(dueMs: number): void {
    if (dueMs >= this.leaveAtMs) return;
    this.leaveAtMs = dueMs;
    this.nats.writes.at(dueMs, (now) => this.sendDue(now));
  }

  private sendDue(now: number): void {
    let nextMs = Infinity;
    for (const [id, gathered] of this.gathered) {
      if (gathered.dueMs > now + companyMs) {
        nextMs = Math.min(nextMs, gathered.dueMs);
        continue;
      }
      this.gathered.delete(id);
      if (gathered.areWords) this.wordsLeftAtMs = now;
      this.sendAll(id, gathered.events);
    }
    if (this.leaveAtMs <= now) this.leaveAtMs = Infinity; // else that departure is still to come
    this.leaveBy(nextMs);
  }

  private sendAll(id: RunId, events: readonly RunEvent[]): void {
    const subject = this.nats.names.runEvents(id);
    for (const text of joined(events.map(eventJson))) {
      if (this.nats.connected) this.send(subject, text);
      else this.keep(subject, text);
    }
  }

  private send(subject: string, text: string): void {
    const { connection, log } = this.nats;
    try {
      connection.publish(subject, text);
    } catch (error) {
      // Larger than the server takes, or the process is closing its connection: watchers find it in the log.
      log.warn({ subject, length: text.length, error }, 'run event not shown live');
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

/** People hear it as it is said. */
const isHeard = ({ type, seq }: RunEvent): boolean => seq === null && type !== 'tool.call_delta';

/** No event follows for now: the run has ended, or waits for a person. */
const rests = (event: RunEvent): boolean => isTerminalFact(event) || event.type === 'run.waiting';

/** As few texts as may be: a line is never divided. */
function joined(lines: readonly string[]): string[] {
  const texts: string[] = [];
  for (const line of lines) {
    const last = texts.at(-1);
    if (last === undefined || last.length + line.length > messageCharacters) texts.push(line);
    else texts[texts.length - 1] = `${last}\n${line}`;
  }
  return texts;
}
