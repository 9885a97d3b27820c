import type { Msg } from 'nats';
import { z } from 'zod';
import type { NatsLink } from '../connection/nats-link';
import { readReceived } from '../connection/received';

/** The services whose processes take runs from queues. */
export type RunHolderService = 'agent-worker' | 'summarizer';

export const signOfLife = z.object({
  /** The name under which the process holds runs. */
  id: z.string().min(1).max(200),
  service: z.string().max(100),
  /** The last sign: the process takes no more runs. */
  leaves: z.boolean().exactOptional(),
});

const defaultEveryMs = 1_000;
/** Two signs may be lost, and the next one late. */
const defaultValidForMs = 3_500;
/** So long a silent process is listed. A longer silence is seen in that no other process takes its place. */
const listedForMs = 60_000;

interface Rhythm {
  readonly everyMs?: number;
  /** Returns a function that ends the repetition. */
  readonly repeat?: (work: () => void, everyMs: number) => () => void;
}

const byInterval: NonNullable<Rhythm['repeat']> = (work, everyMs) => {
  const timer = setInterval(work, everyMs);
  return () => clearInterval(timer);
};

/**
 * In a worker or summarizer: says every second that its event loop turns, whether it holds runs or not. Without it a frozen idle
 * process cannot be told from a healthy one: both keep their connections. Returns a function that says a last time that it leaves.
 */
export function announceRunHolder(
  nats: NatsLink,
  { id, service }: { readonly id: string; readonly service: RunHolderService },
  { everyMs = defaultEveryMs, repeat = byInterval }: Rhythm = {},
): () => void {
  let hasLeft = false;
  const publish = (leaves?: true): void => {
    if (!nats.connected) return;
    nats.connection.publish(nats.names.signOfLife, JSON.stringify({ id, service, ...(leaves && { leaves }) }));
  };
  const end = repeat(() => publish(), everyMs);
  const offReconnect = nats.onReconnect(() => publish());
  publish();
  return () => {
    if (hasLeft) return;
    hasLeft = true;
    end();
    offReconnect();
    publish(true);
  };
}

export interface HeardRunHolder {
  readonly id: string;
  readonly service: string;
  /** Milliseconds since its last sign. */
  readonly silentMs: number;
  /** Whether it misses signs: it is frozen, or has died, or NATS does not reach it. */
  readonly isSilent: boolean;
}

/** The workers and summarizers that gave signs of life in the last minute, as a gateway hears them. */
export class HeardRunHolders {
  private readonly heard = new Map<string, { readonly service: string; readonly atMs: number }>();
  /** Since when every sign arrives. */
  private listeningSinceMs = performance.now();

  constructor(
    private readonly nats: NatsLink,
    private readonly validForMs = defaultValidForMs,
  ) {
    nats.onReconnect(() => (this.listeningSinceMs = performance.now()));
    nats.connection.subscribe(nats.names.signOfLife, {
      callback: (error, message) => {
        if (error) nats.log.error({ error }, 'subscription to signs of life ended');
        else this.receive(message);
      },
    });
  }

  /** By their ids. Undefined while signs may have been missed: without a connection, and in the first seconds of one. */
  get processes(): readonly HeardRunHolder[] | undefined {
    const now = performance.now();
    if (!this.nats.connected || now - this.listeningSinceMs < this.validForMs) return undefined;
    for (const [id, { atMs }] of this.heard) if (now - atMs > listedForMs) this.heard.delete(id);
    return [...this.heard]
      .map(([id, { service, atMs }]) => {
        const silentMs = now - Math.max(atMs, this.listeningSinceMs);
        return { id, service, silentMs, isSilent: silentMs > this.validForMs };
      })
      .sort((one, other) => one.id.localeCompare(other.id));
  }

  private receive(message: Msg): void {
    const sign = readReceived(signOfLife, message, this.nats.log);
    if (!sign) return;
    if (sign.leaves) this.heard.delete(sign.id);
    else this.heard.set(sign.id, { service: sign.service, atMs: performance.now() });
  }
}
