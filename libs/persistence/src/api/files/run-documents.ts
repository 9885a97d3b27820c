import { type FileId, type RunId, type Sha256, fileId, sha256 } from '@rondo/contract';
import { z } from 'zod';
import { createQuery, sizeColumn } from '../../database/checked-query';
import type { Database } from '../../database/database';
import { fileContent } from './files';

/** A PDF of the account of a run. */
export interface RunDocument {
  readonly id: FileId;
  readonly name: string;
  readonly sha256: Sha256;
  readonly size: number;
}

const documentRow = z.object({ id: fileId, name: z.string(), sha256, size: sizeColumn });

const ofRun = `
select files.id, files.name, files.sha256, files.size from files join runs using (account_id)
where runs.id = $1 and files.media_type = 'application/pdf'`;

const byId = createQuery(documentRow, `${ofRun} and files.id = any($2::text[])`);
const byHash = createQuery(documentRow, `${ofRun} and files.sha256 = any($2::text[])`);

/** The PDFs among uploaded files, for runs of the same account. */
export class RunDocuments {
  constructor(private readonly database: Database) {}

  /** Those of these files that are PDFs and still there, in any order. */
  of(runId: RunId, ids: readonly FileId[]): Promise<readonly RunDocument[]> {
    return byId.all(this.database.sql, [runId, ids]);
  }

  /** The bytes of those that are there, as base64. */
  async read(runId: RunId, hashes: readonly Sha256[]): Promise<ReadonlyMap<Sha256, string>> {
    const found = new Map<Sha256, string>();
    for (const row of await byHash.all(this.database.sql, [runId, hashes])) {
      if (found.has(row.sha256)) continue;
      const parts: Buffer[] = [];
      for await (const part of fileContent(this.database.sql, row)) parts.push(part);
      found.set(row.sha256, Buffer.concat(parts).toString('base64'));
    }
    return found;
  }
}
