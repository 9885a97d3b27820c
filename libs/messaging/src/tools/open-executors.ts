import type { Msg } from 'nats';
import { z } from 'zod';
import type { NatsLink } from '../nats/nats-link';
import { received } from '../nats/received';
import { executorId } from '../nats/signals';

const announcement = z.object({ executor_id: executorId, is_open: z.boolean() });
type Announcement = z.infer<typeof announcement>;

const usuallyEveryMs = 1_000;
/** One may be lost, and the next one late. */
const usuallyGoodForMs = 2_500;

/** An executor's end: says again and again whether it takes threads in. Returns what says, as the last word, that it does not. */
export function announceExecutor(
  nats: NatsLink,
  executor: string,
  { isOpen, everyMs = usuallyEveryMs }: { isOpen: () => Promise<boolean>; everyMs?: number },
): () => void {
  let hasLeft = false;
  const say = (words: Announcement) => {
    if (nats.connected) nats.connection.publish(nats.names.executorsOpen, JSON.stringify(words));
  };
  const announce = async () => {
    const open = await isOpen();
    if (!hasLeft) say({ executor_id: executor, is_open: open });
  };
  const timer = setInterval(() => void announce(), everyMs);
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
    private readonly goodForMs = usuallyGoodForMs,
  ) {
    nats.connection.subscribe(nats.names.executorsOpen, {
      callback: (error, message) => {
        if (error) nats.log.error({ error }, 'executor subscription ended');
        else this.hear(message);
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

  private hear(message: Msg): void {
    const said = received(announcement, message, this.nats.log);
    if (said?.is_open) this.heard.set(said.executor_id, { atMs: performance.now(), losses: this.nats.losses });
    else if (said) this.heard.delete(said.executor_id);
  }
}
