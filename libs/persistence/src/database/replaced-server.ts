import { epochsPerIncarnation } from '@rondo/contract';
import type { ClientBase } from 'pg';
import { z } from 'zod';
import { activated, dueAgain, toOutbox } from './run-activation';
import { isBehindPooler } from './configure-connection';
import { ReadOnlyDatabase, isReadOnly } from './sql-error';

/**
 * Names the history of writes that a server continues: its cluster, and its timeline, which changes when a replica is promoted
 * and when a backup is restored.
 */
const readHistory = `
select (select system_identifier from pg_control_system()) || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8) as history`;

const historyRows = z.array(z.object({ history: z.string() }));

const takeTurn = `select pg_advisory_xact_lock(hashtextextended('database_servers', 0))`;
const readPresent = 'select history from database_servers order by number desc limit 1';
const record =
  'insert into database_servers (number, history) select coalesce(max(number), 0) + 1, $1 from database_servers';

/**
 * What was written of these runs last may be missing. Their holders, who may know more, lose their claims, and no claim of
 * before has the epoch of one of after.
 */
const beginIncarnation = `
with unfinished as materialized (
  select id, lease_owner from runs where finished_at is null order by id for no key update
),
raised as (
  update runs set epoch = (epoch / ${epochsPerIncarnation} + 1) * ${epochsPerIncarnation}
  from unfinished where runs.id = unfinished.id and unfinished.lease_owner is null
),
activated as (
  update runs set epoch = (epoch / ${epochsPerIncarnation} + 1) * ${epochsPerIncarnation}, due_since = clock_timestamp(), ${dueAgain}
  from unfinished where runs.id = unfinished.id and unfinished.lease_owner is not null
  returning ${activated}
)
${toOutbox('activated')}`;

/** Postgres answers a function that it lacks, or that this role may not call. */
const cannotTell: readonly unknown[] = ['42501', '42883', '0A000'];
/** The table comes with a migration. */
const noTable = '42P01';

/**
 * Notices that another server answers than before, one that may lack the last writes: a promoted replica or a restored backup.
 * Each connection asks before its first use, so that no write of this process precedes the notice. The first process
 * raises the epochs of all unfinished runs. A server that does not tell its history is taken to be the same for ever.
 */
export class ReplacedServer {
  private known: string | undefined;
  private isPooled = false;
  private readonly listeners = new Set<() => void>();

  /** `foundPooler` is called once, where one lies between: it moves its connections to another server without telling. */
  constructor(private readonly foundPooler: () => void) {}

  /** Calls `listener` whenever another server has taken the place of the one that this process knew. */
  onReplaced(listener: () => void): void {
    this.listeners.add(listener);
  }

  /** Rejects with ReadOnlyDatabase on a replica: what it answers may be older than what was shown. */
  async check(client: ClientBase): Promise<void> {
    if (!this.isPooled && isBehindPooler(client)) {
      this.isPooled = true;
      this.foundPooler();
    }
    const history = await findHistory(client);
    if (history === undefined || history === this.known) return;
    if (!(await noticeServer(client, history))) return;
    const isOther = this.known !== undefined;
    this.known = history;
    if (isOther) for (const listener of this.listeners) listener();
  }
}

async function findHistory(client: ClientBase): Promise<string | undefined> {
  try {
    return await readFirst(client, readHistory);
  } catch (error) {
    if (isReadOnly(error)) throw new ReadOnlyDatabase();
    if (cannotTell.includes(readCode(error))) return undefined;
    throw error;
  }
}

async function readFirst(client: ClientBase, statement: string): Promise<string | undefined> {
  const { rows } = await client.query(statement);
  return historyRows.parse(rows)[0]?.history;
}

/** False where this database has no table for it yet. */
async function noticeServer(client: ClientBase, history: string): Promise<boolean> {
  try {
    await client.query('begin isolation level read committed');
    await client.query(takeTurn);
    const present = await readFirst(client, readPresent);
    if (present !== history) {
      await client.query(record, [history]);
      if (present !== undefined) await client.query(beginIncarnation);
    }
    await client.query('commit');
    return true;
  } catch (error) {
    await client.query('rollback').catch(() => undefined); // its connection is lost
    if (readCode(error) === noTable) return false;
    throw error;
  }
}

const readCode = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined);
