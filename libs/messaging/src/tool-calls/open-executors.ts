import type { Msg } from 'nats';
import { z } from 'zod';
import type { NatsLink } from '../connection/nats-link';
import { received } from '../connection/received';
import { executorId } from '../connection/signals';

const count = z.number().int().nonnegative();

/** How much of an executor is in use. */
const executorLoad = z.object({
  calls: z.object({ running: count, waiting: count, slots: count }),
  sandboxes: z.object({ awake: count, max: count.positive() }),
});
export type ExecutorLoad = z.infer<typeof executorLoad>;

/** What kind of sandboxes an executor has, and whether a thread's sandbox is reached through that executor only. */
const executorProvider = z.object({ name: z.string(), affinity: z.string() });
export type ExecutorProvider = z.infer<typeof executorProvider>;

/** Executors of an older version announce neither their load nor their sandbox provider. */
export const announcement = z.object({
  is_open: z.boolean(),
  load: executorLoad.exactOptional(),
  provider: executorProvider.exactOptional(),
});
type Announcement = z.infer<typeof announcement>;

const usuallyEveryMs = 1_000;
/** One may be lost, and the next one late. */
const usuallyGoodForMs = 2_500;

export interface AnnouncedExecutor {
  readonly isOpen: () => Promise<boolean>;
  readonly load?: () => ExecutorLoad;
  readonly provider?: ExecutorProvider;
  readonly everyMs?: number;
}

/** An executor's end: says again and again whether it takes threads in. Returns what says, as the last word, that it does not. */
export function announceExecutor(
  nats: NatsLink,
  executor: string,
  { isOpen, load, provider, everyMs = usuallyEveryMs }: AnnouncedExecutor,
): () => void {
  let hasLeft = false;
  const say = (words: Announcement) => {
    if (nats.connected) nats.connection.publish(nats.names.executorOpen(executor), JSON.stringify(words));
  };
  const announce = async () => {
    const open = await isOpen();
    if (!hasLeft) say({ is_open: open, ...(load && { load: load() }), ...(provider && { provider }) });
  };
  const timer = setInterval(() => void announce(), everyMs);
  const offReconnect = nats.onReconnect(() => void announce());
  void announce();
  return () => {
    hasLeft = true;
    clearInterval(timer);
    offReconnect();
    say({ is_open: false });
  };
}

interface Heard {
  readonly weight: number;
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
    nats.connection.subscribe(nats.names.executorOpen('*'), {
      callback: (error, message) => {
        if (error) nats.log.error({ error }, 'executor subscription ended');
        else this.hear(message);
      },
    });
  }

  /** One of them, drawn by lot, and the likelier the more of it is free. Undefined where none was heard of in the last seconds: then one has to ask. */
  draw(): string | undefined {
    const { connected, losses } = this.nats;
    const since = performance.now() - this.goodForMs;
    for (const [id, heard] of this.heard) {
      if (heard.atMs < since || heard.losses !== losses) this.heard.delete(id);
    }
    return connected ? drawFrom([...this.heard]) : undefined;
  }

  private hear(message: Msg): void {
    const said = received(announcement, message, this.nats.log);
    const id = executorId.safeParse(message.subject.split('.').at(-1)); // the server knows who may say so, a body does not
    if (!said || !id.success) return;
    const { is_open: isOpen, load } = said;
    const { losses } = this.nats;
    if (isOpen) this.heard.set(id.data, { atMs: performance.now(), losses, weight: weightOf(load) });
    else this.heard.delete(id.data);
  }
}

/** Of an executor that does not say what is free: half of a usual one. */
const usualWeight = 16;

/** Its free slots, of which up to half are taken off for sandboxes that are awake; never nothing, since calls may wait. */
function weightOf(load: ExecutorLoad | undefined): number {
  if (!load) return usualWeight;
  const { calls, sandboxes } = load;
  const freeSlots = Math.max(0, calls.slots - calls.running - calls.waiting);
  const freeSandboxes = Math.max(0, sandboxes.max - sandboxes.awake) / sandboxes.max;
  return 1 + (freeSlots * (1 + freeSandboxes)) / 2;
}

function drawFrom(heard: readonly [string, Heard][]): string | undefined {
  let lot = Math.random() * heard.reduce((sum, [, { weight }]) => sum + weight, 0);
  return heard.find(([, { weight }]) => (lot -= weight) < 0)?.[0];
}
