import {
  type AccountId,
  type ImageMediaType,
  type InlineImage,
  type KeptImage,
  type RunId,
  type Sha256,
  accountId,
  imageMediaType,
  sha256,
} from '@rondo/contract';
import { TerminalError } from '@rondo/domain';
import type { Database } from '../../database/database';
import { runNotFound } from '../runs/lock-run';
import { toBlob, toImage, insertBlobRow } from './blob-row';
import { z } from 'zod';
import { byteColumn, createQuery } from '../../database/checked-query';

export interface BlobAddress {
  readonly accountId: AccountId;
  readonly sha256: Sha256;
}

export interface Blob {
  readonly mediaType: ImageMediaType;
  readonly bytes: Buffer;
}

export const blobRow = z.object({ mediaType: imageMediaType, bytes: byteColumn });

/** The bytes of images. They belong to accounts: another account's blob does not exist (`blob_not_found`). */
export class Blobs {
  constructor(private readonly database: Database) {}

  async get({ accountId, sha256 }: BlobAddress): Promise<Blob> {
    const blob = await blobOfAccount.first(this.database.sql, [accountId, sha256]);
    if (!blob) throw new TerminalError('blob_not_found', `There is no blob ${sha256}.`);
    return blob;
  }

  /** Stores an image for the account of a run. Equal images are one blob. */
  async keep(runId: RunId, image: InlineImage): Promise<KeptImage> {
    const { sql } = this.database;
    const run = await ownerOfRun.first(sql, [runId]);
    if (!run) throw runNotFound(runId);
    const blob = toBlob(image);
    await insertBlobRow(sql, run, blob);
    return toImage(blob);
  }

  /** Those of these blobs that the account of the run has, as base64. */
  async read(runId: RunId, hashes: readonly Sha256[]): Promise<Map<Sha256, string>> {
    const rows = await blobsOfRun.all(this.database.sql, [runId, hashes]);
    return new Map(rows.map(({ sha256, bytes }) => [sha256, bytes.toString('base64')]));
  }
}

const blobOfAccount = createQuery(
  blobRow,
  `
select media_type as "mediaType", bytes from blobs where account_id = $1 and sha256 = $2`,
);

const ownerOfRun = createQuery(
  z.object({ accountId: accountId, threadId: z.string() }),
  `select account_id as "accountId", thread_id as "threadId" from runs where id = $1`,
);

const blobsOfRun = createQuery(
  z.object({ sha256: sha256, bytes: byteColumn }),
  `
select sha256, bytes from blobs join runs using (account_id) where runs.id = $1 and sha256 = any($2::text[])`,
);
