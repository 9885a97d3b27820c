import type { Msg } from 'nats';
import { z } from 'zod';
import type { NatsLink } from '../connection/nats-link';
import { readReceived } from '../connection/received';
import { executorId } from '../connection/signals';

const count = z.number().int().nonnegative();

/** How much of an executor's capacity is in use. */
const executorLoad = z.object({
  calls: z.object({ running: count, waiting: count, slots: count }),
  sandboxes: z.object({ awake: count, max: count.positive() }),
});
export type ExecutorLoad = z.infer<typeof executorLoad>;

/** The kind of sandboxes of an executor, and whether a thread's sandbox can be reached through that executor only. */
const executorProvider = z.object({ name: z.string(), affinity: z.string() });
export type ExecutorProvider = z.infer<typeof executorProvider>;

const offeredSize = z.object({ cpus: z.number(), memory_mb: z.number(), disk_mb: z.number() }).partial();

/** What the environment of a run may ask for: sizes up to this one, these images, and packages of these kinds. */
const environmentOffers = z.object({
  size: offeredSize,
  /** What a size must be a multiple of. Absent: any will do. */
  size_step: offeredSize.exactOptional(),
  images: z.array(z.string().max(400)).max(1_000),
  packages: z.array(z.string().max(20)).max(20),
});
export type EnvironmentOffers = z.infer<typeof environmentOffers>;

/** Executors of an older version announce neither their load nor their sandbox provider. */
export const announcement = z.object({
  is_open: z.boolean(),
  load: executorLoad.exactOptional(),
  provider: executorProvider.exactOptional(),
  /** What it lacks for tools, by need, with the reason. Absent: nothing. */
  lacks: z.record(z.string().max(100), z.string().max(1_000)).exactOptional(),
  /** Absent in those of an older version: they refuse the rest when the run begins. */
  offers: environmentOffers.exactOptional(),
  /** It restores workspaces of lost executors from their last copy. Absent: it does not. */
  adopts: z.boolean().exactOptional(),
  /** Why it runs no tools at all. */
  problem: z.string().max(4_000).exactOptional(),
});
type Announcement = z.infer<typeof announcement>;

const defaultEveryMs = 1_000;
/** One announcement may be lost, and the next one late. */
const defaultValidForMs = 2_500;

export interface AnnouncedExecutor {
  readonly isOpen: () => Promise<boolean>;
  readonly load?: () => ExecutorLoad;
  readonly provider?: ExecutorProvider;
  readonly lacks?: () => Readonly<Record<string, string>>;
  readonly offers?: () => EnvironmentOffers | undefined;
  /** Whether it restores workspaces of lost executors. */
  readonly adopts?: boolean;
  /** Why it can run no tools. */
  readonly problem?: () => Promise<string | undefined>;
  readonly everyMs?: number;
  /** Called when one was sent, and the connection was there. */
  readonly sent?: () => void;
}

/** In an executor: announces periodically whether it accepts threads. Returns a function that announces a last time that it does not. */
export function announceExecutor(
  nats: NatsLink,
  executor: string,
  { isOpen, load, provider, lacks, offers, adopts, problem, sent, everyMs = defaultEveryMs }: AnnouncedExecutor,
): () => void {
  let hasLeft = false;
  const publish = (message: Announcement) => {
    if (!nats.connected) return;
    nats.connection.publish(nats.names.executorOpen(executor), JSON.stringify(message));
    sent?.();
  };
  const announce = async () => {
    const open = await isOpen();
    const trouble = await problem?.();
    const offered = offers?.();
    if (hasLeft) return;
    publish({
      is_open: open,
      ...(load && { load: load() }),
      ...(provider && { provider }),
      ...(lacks && { lacks: lacks() }),
      ...(offered && { offers: offered }),
      ...(adopts !== undefined && { adopts }),
      ...(trouble !== undefined && { problem: trouble }),
    });
  };
  const timer = setInterval(() => void announce(), everyMs);
  const offReconnect = nats.onReconnect(() => void announce());
  void announce();
  return () => {
    hasLeft = true;
    clearInterval(timer);
    offReconnect();
    publish({ is_open: false });
  };
}

interface Announced {
  readonly weight: number;
  readonly adopts: boolean;
  readonly atMs: number;
  /** The losses of the connection until then: after another one, the announcement that it leaves may have been missed. */
  readonly losses: number;
}

/** No setting asks about a longer silence. */
const longestSilenceMs = 86_400_000;

/** The executors that announce to workers that they accept threads, and when each was heard of last. */
export class OpenExecutors {
  private readonly announced = new Map<string, Announced>();
  private readonly heardAtMs = new Map<string, number>();
  /** Since when every announcement arrives. */
  private listeningSinceMs = performance.now();
  private readonly waiting = new Set<() => void>();

  constructor(
    private readonly nats: NatsLink,
    private readonly validForMs = defaultValidForMs,
  ) {
    nats.onReconnect(() => (this.listeningSinceMs = performance.now()));
    nats.connection.subscribe(nats.names.executorOpen('*'), {
      callback: (error, message) => {
        if (error) nats.log.error({ error }, 'executor subscription ended');
        else this.receive(message);
      },
    });
  }

  /**
   * A random one of them, weighted by free capacity. Undefined where none was announced in the last seconds: then the caller
   * requests a placement.
   */
  draw(): string | undefined {
    return drawFrom(this.open());
  }

  /** The same among those that restore workspaces of lost executors. */
  drawAdopting(): string | undefined {
    return drawFrom(this.open().filter(([, { adopts }]) => adopts));
  }

  /** How long an executor has announced nothing for certain, in milliseconds: times without a connection do not count. */
  silentMs(executor: string): number {
    if (!this.nats.connected) return 0;
    return performance.now() - Math.max(this.heardAtMs.get(executor) ?? 0, this.listeningSinceMs);
  }

  /** The same, but waits for the next announcement if there was none: a process that has just started has heard of none. */
  async drawWithin(ms: number): Promise<string | undefined> {
    return this.draw() ?? (await this.nextAnnouncement(ms), this.draw());
  }

  private open(): [string, Announced][] {
    const { connected, losses } = this.nats;
    const since = performance.now() - this.validForMs;
    for (const [id, announced] of this.announced) {
      if (announced.atMs < since || announced.losses !== losses) this.announced.delete(id);
    }
    return connected ? [...this.announced] : [];
  }

  private nextAnnouncement(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.waiting.delete(done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      this.waiting.add(done);
    });
  }

  /** The map is in the order of the announcements, since each is put at its end. */
  private forgetOld(): void {
    const [oldest] = this.heardAtMs;
    if (oldest && performance.now() - oldest[1] > longestSilenceMs) this.heardAtMs.delete(oldest[0]);
  }

  private receive(message: Msg): void {
    const announced = readReceived(announcement, message, this.nats.log);
    const id = executorId.safeParse(message.subject.split('.').at(-1)); // the subject, not the body: the server checks who may publish on it
    if (!announced || !id.success) return;
    const { is_open: isOpen, load, adopts = false } = announced;
    const { losses } = this.nats;
    const atMs = performance.now();
    this.heardAtMs.delete(id.data);
    this.heardAtMs.set(id.data, atMs);
    this.forgetOld();
    if (isOpen) this.announced.set(id.data, { atMs, losses, weight: weigh(load), adopts });
    else this.announced.delete(id.data);
    if (isOpen) for (const done of this.waiting) done();
  }
}

/** The weight of an executor that does not announce its load: half of the default slots. */
const defaultWeight = 16;

/** Its free slots, reduced by up to half for sandboxes that are awake; at least 1, since calls may wait. */
function weigh(load: ExecutorLoad | undefined): number {
  if (!load) return defaultWeight;
  const { calls, sandboxes } = load;
  const freeSlots = Math.max(0, calls.slots - calls.running - calls.waiting);
  const freeSandboxes = Math.max(0, sandboxes.max - sandboxes.awake) / sandboxes.max;
  return 1 + (freeSlots * (1 + freeSandboxes)) / 2;
}

function drawFrom(executors: readonly [string, Announced][]): string | undefined {
  let lot = Math.random() * executors.reduce((sum, [, { weight }]) => sum + weight, 0);
  return executors.find(([, { weight }]) => (lot -= weight) < 0)?.[0];
}
