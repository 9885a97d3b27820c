import type { Mint, ThreadId } from '@rondo/domain';
import type { Database } from './database';

const placeOf = `select executor_id from sandboxes where thread_id = $1`;

/** Answers with the place that stays, which may be another one: the update changes nothing and returns the row. */
const keepPlace = `
insert into sandboxes (id, thread_id, executor_id) values ($1, $2, $3)
on conflict (thread_id) do update set thread_id = excluded.thread_id
returning executor_id`;

interface Place {
  readonly executor_id: string;
}

/** Which executor hosts which thread's sandbox. */
export class Sandboxes {
  constructor(
    private readonly database: Database,
    private readonly mint: Mint,
  ) {}

  /** Asks `place` where nobody hosts the thread yet; where two ask at once, the first answer stays. */
  async placeOf(threadId: ThreadId, place: () => Promise<string>): Promise<string> {
    const { sql } = this.database;
    const [known] = await sql.query<Place>(placeOf, [threadId]);
    if (known) return known.executor_id;

    const executorId = await place();
    const [kept] = await sql.query<Place>(keepPlace, [`sbx_${this.mint()}`, threadId, executorId]);
    return kept?.executor_id ?? executorId;
  }
}
