import type { ClientBase } from 'pg';

/**
 * Set by a statement and not when connecting, because poolers refuse to connect with settings that they do not know.
 *
 * Prepared statements find rows by key, so one generic plan serves all parameters. It is made once, possibly while the tables are
 * so small that a sequential scan would be cheaper, hence no sequential scans. Statements that allow nothing else then get a high
 * cost estimate, at which Postgres would JIT-compile them for longer than they run. A pooler shares its connections with others,
 * which these settings would surprise, and there statements have no names and are planned each time.
 */
const limits = { statement_timeout: '20s', idle_in_transaction_session_timeout: '20s' };
/** Statements wait for what others change at the same time, and then see it. A database or a role can have another default. */
const isolation = 'read committed';
const planning = { plan_cache_mode: 'force_generic_plan', enable_seqscan: 'off', jit: 'off' };

/** Begins a transaction behind a pooler, where settings of the session may be those of another connection. */
export const beginWithLimits = [
  `begin isolation level ${isolation}`,
  ...Object.entries(limits).map(([name, value]) => `set local ${name} = '${value}'`),
].join('; ');

const isDirect = 'pg_backend_pid() = $1';
const always = Object.entries(limits).map(([name, value]) => `set_config('${name}', '${value}', false)`);
const whereDirect = Object.entries({ ...planning, default_transaction_isolation: isolation }).map(
  ([name, value]) =>
    `set_config('${name}', case when ${isDirect} then '${value}' else current_setting('${name}') end, false)`,
);
const configure = `select ${isDirect} as is_direct, ${[...always, ...whereDirect].join(', ')}`;

const behindPoolers = new WeakSet<object>();

/** Before the first use of a new connection. */
export async function configureConnection(client: ClientBase): Promise<void> {
  const { rows } = await client.query<{ is_direct: boolean }>(configure, [findBackend(client)]);
  if (!rows[0]?.is_direct) behindPoolers.add(client);
}

/**
 * A pooler reports another backend than the one that answers. The next statement may then run on another one, which does not know
 * what was prepared on the last.
 */
export const isBehindPooler = (client: object): boolean => behindPoolers.has(client);

/** The backend that the server has named when connecting. */
export const findBackend = (client: ClientBase): unknown => ('processID' in client ? client.processID : undefined);
