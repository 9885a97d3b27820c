import type { RunId } from '@rondo/contract';
import type { Database } from '../../database/database';
import { type StoredFile, fileContent, toFile } from './files';
import { fileRow } from './upload';
import { z } from 'zod';
import { createQuery } from '../../database/checked-query';

/** A file that is to be written into the workspace of a run's thread. */
export interface FileToDeliver {
  readonly path: string;
  /** Undefined if it was deleted meanwhile. */
  readonly file: StoredFile | undefined;
}

const undeliveredRow = z.union([fileRow.extend({ path: z.string() }), z.object({ path: z.string(), id: z.null() })]);

const undelivered = createQuery(
  undeliveredRow,
  `
select path, id, name, size, media_type, sha256, created_at from run_files left join files on files.id = file_id and sha256 is not null
where run_id = $1 and delivered_at is null order by path`,
);

const settle = `update run_files set delivered_at = clock_timestamp() where run_id = $1 and path = $2`;

/** Which files runs have got. */
export class FileDeliveries {
  constructor(private readonly database: Database) {}

  async of(runId: RunId): Promise<readonly FileToDeliver[]> {
    const rows = await undelivered.all(this.database.sql, [runId]);
    return rows.map((row) => ({ path: row.path, file: row.id === null ? undefined : toFile(row) }));
  }

  content(file: Pick<StoredFile, 'id' | 'size'>): AsyncGenerator<Buffer> {
    return fileContent(this.database.sql, file);
  }

  /** It is in the workspace, or never will be. */
  async settle(runId: RunId, path: string): Promise<void> {
    await this.database.sql.query(settle, [runId, path]);
  }
}
