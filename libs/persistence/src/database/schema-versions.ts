import { z } from 'zod';
import manifest from '../../package.json';
import { createQuery } from './checked-query';
import type { Sql } from './sql';
import { isDatabaseUnavailable } from './unavailable';

interface SchemaVersion {
  readonly version: string;
  /** The oldest version whose services may work with the schema of `version`. */
  readonly oldestService: string;
}

const recorded = createQuery<SchemaVersion>(
  z.object({ version: z.string(), oldestService: z.string() }),
  'select version, oldest_service as "oldestService" from schema_versions',
);

class NewerSchemaError extends Error {
  override readonly name = 'NewerSchemaError';

  constructor(own: string, { version, oldestService: oldest }: SchemaVersion) {
    super(
      `This service is of version ${own}, and the database was migrated by version ${version}, which works with services of version ${oldest} or later. Start such services, or restore a backup of before that migration (docs/operations.md#upgrades).`,
    );
  }
}

/**
 * Rejects where a later version has migrated the database so far that services of this version may lack what they use, for the
 * start of a process. Resolves where the database does not answer, or does not tell.
 */
export async function refuseNewerSchema({ sql }: { readonly sql: Sql }, own = manifest.version): Promise<void> {
  const refusing = (await readVersions(sql)).filter(({ oldestService }) => compare(own, oldestService) < 0);
  const [newest] = refusing.toSorted((a, b) => compare(b.oldestService, a.oldestService));
  if (newest) throw new NewerSchemaError(own, newest);
}

/** Of numbers between dots. */
const { compare } = new Intl.Collator('en', { numeric: true });

/** The table and the right to read it come with a migration. */
const notYet: readonly unknown[] = ['42P01', '42501'];

async function readVersions(sql: Sql): Promise<SchemaVersion[]> {
  try {
    return await recorded.all(sql);
  } catch (error) {
    const isUnknown = error instanceof Error && 'code' in error && notYet.includes(error.code);
    if (isUnknown || isDatabaseUnavailable(error)) return [];
    throw error;
  }
}
