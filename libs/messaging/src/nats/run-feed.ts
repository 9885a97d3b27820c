import { type RunEvent, type RunId, deltaEvent, eventId, factTypes, runId } from '@rondo/domain';
import { z } from 'zod';
import type { NatsLink } from './nats-link';
import { received } from './received';

export interface RunWatch {
  /**
   * Resolves, never rejects, when the server knows of the watch: what is published from then on is heard. While NATS
   * is away it resolves after a second all the same, since then nothing can be heard at all.
   */
  readonly ready: Promise<void>;
  stop(): void;
}

/**
 * Its envelope is checked, and it is left as it was sent: its JSON must stay the same to the byte for every reader. What
 * is in a fact's `data` is trusted here as it is where the log is read: only the log's writers publish.
 */
const factEnvelope = z.object({
  id: eventId,
  v: z.literal(1),
  seq: z.number().int().positive(),
  type: z.enum(factTypes),
  run_id: runId,
  data: z.looseObject({}),
});
const runEvent = z.custom<RunEvent>(
  (value) => (isDelta(value) ? deltaEvent : factEnvelope).safeParse(value).success,
  'not a run event',
);
const isDelta = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'seq' in value && value.seq === null;

const readyTimeoutMs = 1_000;
const keptCharacters = 4_000_000;
/** Of one message, unless one event alone is longer; the server takes a megabyte. */
const messageCharacters = 250_000;
const gatherMs = 10;

/**
 * Shows a run's events to whoever watches. Fire and forget: the truth is in Postgres, and a watcher that misses a
 * `seq` reads it there (I1). While NATS is away the newest events are kept, a few megabytes, so that watchers notice
 * on its return what they have missed.
 *
 * Events leave together, a run's in one message, a line of JSON each: every message costs everybody on its way a write
 * and a wake-up, however small it is. The first words leave at once, with all that is before them; in a process that says
 * more than that, what follows waits for its company, a few milliseconds. Facts always may: who acts on them has been
 * told otherwise.
 */
export class NatsRunFeed {
  private gathered = new Map<RunId, string[]>();
  private leaveAtMs = Infinity;
  private leftAtMs = -Infinity;
  private kept: { subject: string; text: string }[] = [];
  private keptLength = 0;

  constructor(private readonly nats: NatsLink) {
    nats.onReconnect(() => this.sendKept());
  }

  publish(events: readonly RunEvent[]): void {
    const now = performance.now();
    for (const event of events) {
      const lines = this.gathered.get(event.run_id);
      if (lines) lines.push(JSON.stringify(event));
      else this.gathered.set(event.run_id, [JSON.stringify(event)]);
      const atMs = event.seq === null ? this.leftAtMs + gatherMs : now + gatherMs;
      if (atMs < this.leaveAtMs) this.leaveAt(atMs);
    }
  }

  /** Calls back in the order of publication, with the event and its JSON as it was published. */
  watch(watched: RunId, onEvent: (event: RunEvent, json: string) => void): RunWatch {
    const { connection, names, log } = this.nats;
    const subscription = connection.subscribe(names.runEvents(watched), {
      callback: (error, message) => {
        if (error) {
          log.error({ runId: watched, error }, 'run feed subscription ended');
          return;
        }
        for (const line of message.string().split('\n')) {
          const event = received(runEvent, { subject: message.subject, string: () => line }, log);
          if (event) onEvent(event, line);
        }
      },
    });
    return { ready: this.known(), stop: () => subscription.unsubscribe() };
  }

  private async known(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, readyTimeoutMs)));
    const flushed = this.nats.connection.flush().catch(() => late); // the connection was lost on the way
    await Promise.race([flushed, late]);
    clearTimeout(timer);
  }

  private leaveAt(atMs: number): void {
    this.leaveAtMs = atMs;
    this.nats.departures.by(atMs, () => this.sendGathered());
  }

  private sendGathered(): void {
    const { gathered } = this;
    if (gathered.size === 0) return; // left already, as company
    this.leaveAtMs = Infinity;
    this.leftAtMs = performance.now();
    this.gathered = new Map();
    for (const [id, lines] of gathered) {
      const subject = this.nats.names.runEvents(id);
      for (const text of joined(lines)) {
        if (this.nats.connected) this.send(subject, text);
        else this.keep(subject, text);
      }
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
