import type { Sql } from './sql';

export interface ConnectionLog {
  warn(fields: object, text: string): void;
}

const connections = `
select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as allowed,
  (select count(*)::int from pg_stat_activity
    where datid is not null and usesysid is not null and pid <> pg_backend_pid()) as taken`;

/**
 * Says at boot what would otherwise be found out under load: that Postgres has not as many connections left as this
 * process may open. Never rejects: a server that is away is noticed elsewhere.
 */
export async function checkConnections(
  sql: Sql,
  { needed, log }: { needed: number; log: ConnectionLog },
): Promise<void> {
  try {
    const [found] = await sql.query<{ allowed: number; taken: number }>(connections);
    if (!found || needed <= found.allowed - found.taken) return;
    log.warn(
      { needed, ...found },
      'Postgres may run out of connections: lower DATABASE_POOL_SIZE, or raise max_connections',
    );
  } catch {
    return;
  }
}
