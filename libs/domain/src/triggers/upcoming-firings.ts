import type { MissedPolicy } from '@rondo/contract';
import type { DueTimes } from './due-times';
import { firingStep } from './firing-step';

/** What fires next, and from then on. The times are read only when a second firing is asked for. */
export interface FiringSource {
  readonly times: DueTimes;
  readonly missed: MissedPolicy;
  readonly dueAt: Date;
}

export interface UpcomingFiring<Source> {
  readonly source: Source;
  readonly at: Date;
}

export interface WantedFirings {
  readonly count: number;
  /** Awaited between two steps, of which none looks at more than one source. */
  readonly nextTurn: () => Promise<void>;
}

/** The next firings of all sources together, in order. Of those at one time, the earlier source comes first. */
export async function upcomingFirings<Source extends FiringSource>(
  sources: readonly Source[],
  now: Date,
  { count, nextTurn }: WantedFirings,
): Promise<UpcomingFiring<Source>[]> {
  const heads = [];
  for (const source of sources) {
    await nextTurn();
    const following = listFirings(source, now);
    heads.push({ source, following, at: following.next().value });
  }
  const found: UpcomingFiring<Source>[] = [];
  while (found.length < count) {
    await nextTurn();
    const first = heads.reduce((best, head) => (isEarlier(head.at, best?.at) ? head : best), heads[0]);
    if (first?.at === undefined) break;
    found.push({ source: first.source, at: first.at });
    first.at = first.following.next().value;
  }
  return found;
}

const isEarlier = (one: Date | undefined, other: Date | undefined): boolean =>
  one !== undefined && (other === undefined || one < other);

/** A due time that has come is fired or skipped as the gateways do it. */
function* listFirings({ times, missed, dueAt }: FiringSource, now: Date): Generator<Date, undefined> {
  let at: Date | undefined = dueAt;
  while (at) {
    if (at > now) {
      yield at;
      at = times.next(at);
    } else {
      const step = firingStep({ times, missed, dueAt: at }, now);
      if (step.action === 'fire') yield step.dueAt;
      at = step.next;
    }
  }
  return undefined;
}
