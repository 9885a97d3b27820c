import { z } from 'zod';
import type { NatsLink } from '../nats/nats-link';
import { received } from '../nats/received';
import { executorId } from '../nats/signals';

const announcement = z.object({ executor_id: executorId, is_open: z.boolean() });
type Announcement = z.infer<typeof announcement>;

export interface AnnouncementTiming {
  readonly everyMs: number;
  /** One may be lost, and the next one late. */
  readonly goodForMs: number;
}

const usualTiming: AnnouncementTiming = { everyMs: 1_000, goodForMs: 2_500 };

/** An executor's end: says again and again whether it takes threads in. Returns what says, as the last word, that it does not. */
export function announceExecutor(
  nats: NatsLink,
  executor: string,
  { isOpen, timing = usualTiming }: { isOpen: () => Promise<boolean>; timing?: AnnouncementTiming },
): () => void {
  let hasLeft = false;
  const say = (words: Announcement) => {
    if (nats.connected) nats.connection.publish(nats.names.executorsOpen, JSON.stringify(words));
  };
  const announce = async () => {
    const open = await isOpen();
    if (!hasLeft) say({ executor_id: executor, is_open: open });
  };
  const timer = setInterval(() => void announce(), timing.everyMs);
  const offReconnect = nats.onReconnect(() => void announce());
  void announce();
  return () => {
    hasLeft = true;
    clearInterval(timer);
    offReconnect();
    say({ executor_id: executor, is_open: false });
  };
}

interface Heard {
  readonly atMs: number;
  /** What was said after a connection was lost may have been that it leaves. */
  readonly losses: number;
}

/** A worker's end: the executors that take threads in, as they say themselves. */
export class OpenExecutors {
  private readonly heard = new Map<string, Heard>();

  constructor(
    private readonly nats: NatsLink,
    private readonly goodForMs = usualTiming.goodForMs,
  ) {
    nats.connection.subscribe(nats.names.executorsOpen, {
      callback: (error, message) => {
        const said = error ? undefined : received(announcement, message, nats.log);
        if (error) nats.log.error({ error }, 'executor subscription ended');
        if (said) this.note(said);
      },
    });
  }

  /** One of them, drawn by lot. Undefined where none was heard of in the last seconds: then one has to ask. */
  draw(): string | undefined {
    const { connected, losses } = this.nats;
    const since = performance.now() - this.goodForMs;
    for (const [id, heard] of this.heard) {
      if (heard.atMs < since || heard.losses !== losses) this.heard.delete(id);
    }
    const open = connected ? [...this.heard.keys()] : [];
    return open[Math.floor(Math.random() * open.length)];
  }

  private note({ executor_id: id, is_open: isOpen }: Announcement): void {
    if (isOpen) this.heard.set(id, { atMs: performance.now(), losses: this.nats.losses });
    else this.heard.delete(id);
  }
}
