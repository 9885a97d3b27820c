import type { AccountId, ImageMediaType, InlineImage, KeptImage, RunId, Sha256 } from '@rondo/contract';
import { TerminalError } from '@rondo/domain';
import type { Database } from '../../database/database';
import { runNotFound } from '../runs/lock-run';
import { blobOf, imageOf, insertBlobOf } from './blob-row';

export interface BlobAddress {
  readonly accountId: AccountId;
  readonly sha256: Sha256;
}

export interface Blob {
  readonly mediaType: ImageMediaType;
  readonly bytes: Buffer;
}

/** The bytes of images. They belong to accounts: another account's blob does not exist (`blob_not_found`). */
export class Blobs {
  constructor(private readonly database: Database) {}

  async get({ accountId, sha256 }: BlobAddress): Promise<Blob> {
    const [blob] = await this.database.sql.query<Blob>(blobOfAccount, [accountId, sha256]);
    if (!blob) throw new TerminalError('blob_not_found', `There is no blob ${sha256}.`);
    return blob;
  }

  /** Stores an image for the account of a run. Equal images are one blob. */
  async keep(runId: RunId, image: InlineImage): Promise<KeptImage> {
    const { sql } = this.database;
    const [run] = await sql.query<{ accountId: AccountId; threadId: string }>(ownerOfRun, [runId]);
    if (!run) throw runNotFound(runId);
    const blob = blobOf(image);
    await insertBlobOf(sql, run, blob);
    return imageOf(blob);
  }

  /** Those of these blobs that the account of the run has, as base64. */
  async read(runId: RunId, hashes: readonly Sha256[]): Promise<Map<Sha256, string>> {
    const rows = await this.database.sql.query<{ sha256: Sha256; bytes: Buffer }>(blobsOfRun, [runId, hashes]);
    return new Map(rows.map(({ sha256, bytes }) => [sha256, bytes.toString('base64')]));
  }
}

const blobOfAccount = `
select media_type as "mediaType", bytes from blobs where account_id = $1 and sha256 = $2`;

const ownerOfRun = `select account_id as "accountId", thread_id as "threadId" from runs where id = $1`;

const blobsOfRun = `
select sha256, bytes from blobs join runs using (account_id) where runs.id = $1 and sha256 = any($2::text[])`;
