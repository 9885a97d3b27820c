import type { Sql } from './sql';
import { z } from 'zod';
import { checked } from '../database/checked-query';

export interface ConnectionLog {
  warn(fields: object, text: string): void;
}

const connections = checked(
  z.object({ allowed: z.number(), in_use: z.number() }),
  `
select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as allowed,
  (select count(*)::int from pg_stat_activity
    where datid is not null and usesysid is not null and pid <> pg_backend_pid()) as in_use`,
);

/**
 * Warns at start-up when Postgres has fewer free connections than this process may open, which would otherwise show only
 * under load. Never rejects: an unavailable server is reported elsewhere.
 */
export async function checkConnections(
  sql: Sql,
  { needed, log }: { needed: number; log: ConnectionLog },
): Promise<void> {
  try {
    const found = await connections.first(sql);
    if (!found || needed <= found.allowed - found.in_use) return;
    log.warn(
      { needed, ...found },
      'Postgres may run out of connections: lower DATABASE_POOL_SIZE, or raise max_connections',
    );
  } catch {
    return;
  }
}
