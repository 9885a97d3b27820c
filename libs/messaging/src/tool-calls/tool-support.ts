import type { LackedNeeds } from '@rondo/domain';
import type { Msg } from 'nats';
import type { NatsLink } from '../connection/nats-link';
import { readReceived } from '../connection/received';
import { type EnvironmentOffers, type ExecutorLoad, announcement } from './open-executors';

/** Several announcements may be lost before an executor counts as gone: what it lacks seldom changes. */
const defaultValidForMs = 4_000;

interface Support extends Omit<HeardExecutor, 'id'> {
  readonly atMs: number;
}

/** An executor as it has announced itself in the last seconds. */
export interface HeardExecutor {
  readonly id: string;
  /** Whether it accepts further threads. */
  readonly is_open: boolean;
  readonly provider: string | null;
  readonly load: ExecutorLoad | null;
  readonly lacks: LackedNeeds;
  /** What environments may ask for; null where it does not say. */
  readonly offers: EnvironmentOffers | null;
  /** Why it runs no tools at all. */
  readonly problem: string | null;
}

/** What the executors say that they lack for tools, as workers and gateways hear it. */
export class ToolSupport {
  private readonly heard = new Map<string, Support>();

  constructor(
    private readonly nats: NatsLink,
    private readonly validForMs = defaultValidForMs,
  ) {
    nats.connection.subscribe(nats.names.executorOpen('*'), {
      callback: (error, message) => {
        if (error) nats.log.error({ error }, 'executor subscription ended');
        else this.receive(message);
      },
    });
  }

  /**
   * What at least one executor lacks: a thread may be placed on any. Nothing while no executor was heard, because a
   * call then fails with the reason.
   */
  get lacked(): LackedNeeds {
    return Object.assign({}, ...this.present.map(({ lacks }) => lacks)) as LackedNeeds; // all of them are such records
  }

  /** Why no executor runs tools. Undefined: one does. */
  get problem(): string | undefined {
    const present = this.present;
    if (present.length === 0) return 'No tool-executor has announced itself in the last seconds.';
    const isUseless = present.every(({ problem }) => problem !== null);
    return isUseless ? (present[0]?.problem ?? undefined) : undefined;
  }

  /** The executors that were heard lately, in the order of their ids. */
  get executors(): readonly HeardExecutor[] {
    this.forgetSilent();
    const heard = [...this.heard].map(([id, { atMs: _, ...executor }]) => ({ id, ...executor }));
    return heard.sort((one, other) => one.id.localeCompare(other.id));
  }

  private get present(): Support[] {
    this.forgetSilent();
    return [...this.heard.values()];
  }

  private forgetSilent(): void {
    const since = performance.now() - this.validForMs;
    for (const [id, { atMs }] of this.heard) if (atMs < since) this.heard.delete(id);
  }

  private receive(message: Msg): void {
    const announced = readReceived(announcement, message, this.nats.log);
    const id = message.subject.split('.').at(-1); // the subject, not the body: the server checks who may publish on it
    if (!announced || id === undefined) return;
    const { is_open, lacks = {}, offers = null, problem = null, load = null, provider } = announced;
    const hasLeft = !is_open && load === null && problem === null;
    const atMs = performance.now();
    if (hasLeft) this.heard.delete(id);
    else this.heard.set(id, { is_open, lacks, offers, problem, load, provider: provider?.name ?? null, atMs });
  }
}
