import type { withClient } from '../../../../deploy/local/servers/postgres-client.mjs';

/** A connection to Postgres. */
export type Client = Parameters<Parameters<typeof withClient>[1]>[0];

/** What a run leaves, in the order in which it is written. */
export const tablesOfRuns = [
  'threads',
  'runs',
  'run_inputs',
  'run_events',
  'messages',
  'tool_calls',
  'usage_entries',
] as const;

const copiesPerStatement = 50;
/** Finished runs of two months, so that retention finds some of every age. */
const days = 60;

interface Originals {
  readonly table: string;
  readonly columns: readonly string[];
  readonly values: readonly string[];
}

/**
 * Copies all runs of the database that often, row by row, with ids of their own that ascend. Written without triggers and
 * checks of foreign keys: what is measured is what lies there afterwards. `progress` gets the share that is done.
 */
export async function multiply(client: Client, copies: number, progress: (share: number) => void): Promise<void> {
  const originals: Originals[] = [];
  for (const table of tablesOfRuns) originals.push(await setAside(client, table));
  await client.query('set session_replication_role = replica');
  for (let from = 1; from <= copies; from += copiesPerStatement) {
    const through = Math.min(copies, from + copiesPerStatement - 1);
    for (const { table, columns, values } of originals) {
      await client.query(
        `insert into ${table} (${columns.join(', ')})
        select ${values.join(', ')} from generate_series($1::int, $2::int) as copy (n) cross join original_${table} as row`,
        [from, through],
      );
    }
    progress(through / copies);
  }
  await client.query('reset session_replication_role');
}

async function setAside(client: Client, table: string): Promise<Originals> {
  await client.query(`create temp table original_${table} as select * from ${table}`);
  const { rows } = await client.query<{ name: string; type: string }>(
    `select column_name as name, data_type as type from information_schema.columns
    where table_schema = 'public' and table_name = $1`,
    [table],
  );
  const values: string[] = [];
  for (const { name, type } of rows) values.push(await valueOf(client, { table, name, type }));
  return { table, columns: rows.map(({ name }) => `"${name}"`), values };
}

async function valueOf(client: Client, { table, name, type }: { table: string; name: string; type: string }) {
  const column = `row."${name}"`;
  if (name === 'finished_at') return `${column} - (copy.n % ${days}) * interval '1 day'`;
  if (type !== 'text' || name === 'account_id') return column;
  const { rows } = await client.query<{ holds_ids: boolean | null }>(
    `select bool_and("${name}" ~ '^[a-z]+_[0-9A-Z]{26}') as holds_ids from original_${table}`,
  );
  return rows[0]?.holds_ids === true
    ? `split_part(${column}, '_', 1) || '_' || lpad(copy.n::text, 10, '0') || substr(${column}, strpos(${column}, '_') + 11)`
    : column;
}
