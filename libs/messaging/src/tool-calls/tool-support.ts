import type { LackedNeeds } from '@rondo/domain';
import type { Msg } from 'nats';
import type { NatsLink } from '../connection/nats-link';
import { received } from '../connection/received';
import { announcement } from './open-executors';

/** Several announcements may be lost before an executor counts as gone: what it lacks seldom changes. */
const defaultValidForMs = 5_000;

interface Support {
  readonly lacks: LackedNeeds;
  readonly problem: string | undefined;
  readonly atMs: number;
}

/** In a worker or gateway: what the executors say that they lack for tools. */
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
    return present.every(({ problem }) => problem !== undefined) ? present[0]?.problem : undefined;
  }

  private get present(): Support[] {
    const since = performance.now() - this.validForMs;
    for (const [id, { atMs }] of this.heard) if (atMs < since) this.heard.delete(id);
    return [...this.heard.values()];
  }

  private receive(message: Msg): void {
    const announced = received(announcement, message, this.nats.log);
    if (!announced) return;
    const { is_open: isOpen, lacks = {}, problem, load } = announced;
    const hasLeft = !isOpen && load === undefined && problem === undefined;
    if (hasLeft) this.heard.delete(message.subject);
    else this.heard.set(message.subject, { lacks, problem, atMs: performance.now() });
  }
}
