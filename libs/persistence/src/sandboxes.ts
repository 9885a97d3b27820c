import type { Mint, ThreadId } from '@rondo/domain';
import type { Database } from './database';
import type { Sql } from './sql';
import { Together } from './together';

interface Place {
  readonly thread_id: string;
  readonly executor_id: string;
}

interface Offer {
  readonly id: string;
  readonly threadId: ThreadId;
  readonly executorId: string;
}

const placesOf = `select thread_id, executor_id from sandboxes where thread_id = any($1::text[])`;

/** Answers with the places that stay, which may be other ones: the update changes nothing and returns the row. */
const keepPlaces = `
insert into sandboxes (id, thread_id, executor_id)
select distinct on (thread_id) *
from unnest($1::text[], $2::text[], $3::text[]) as offer (id, thread_id, executor_id) order by thread_id
on conflict (thread_id) do update set thread_id = excluded.thread_id
returning thread_id, executor_id`;

/** Which executor hosts which thread's sandbox. */
export class Sandboxes {
  private readonly known: Together<ThreadId, string | undefined>;
  private readonly kept: Together<Offer, string>;

  constructor(
    { sql }: Database,
    private readonly mint: Mint,
  ) {
    this.known = new Together((threads) => find(sql, threads));
    this.kept = new Together((offers) => keep(sql, offers));
  }

  /** Asks `place` where nobody hosts the thread yet; where two ask at once, the first answer stays. */
  async placeOf(threadId: ThreadId, place: () => Promise<string>): Promise<string> {
    const known = await this.known.of(threadId);
    if (known !== undefined) return known;

    return this.kept.of({ id: `sbx_${this.mint()}`, threadId, executorId: await place() });
  }
}

async function find(sql: Sql, threads: readonly ThreadId[]): Promise<readonly (string | undefined)[]> {
  const places = executors(await sql.query<Place>(placesOf, [threads]));
  return threads.map((thread) => places.get(thread));
}

async function keep(sql: Sql, offers: readonly Offer[]): Promise<readonly string[]> {
  const columns = [
    offers.map(({ id }) => id),
    offers.map(({ threadId }) => threadId),
    offers.map(({ executorId }) => executorId),
  ];
  const kept = executors(await sql.query<Place>(keepPlaces, columns));
  return offers.map(({ threadId, executorId }) => kept.get(threadId) ?? executorId);
}

const executors = (places: readonly Place[]): ReadonlyMap<string, string> =>
  new Map(places.map(({ thread_id, executor_id }) => [thread_id, executor_id]));
