import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  NoSuchKey,
  S3Client,
  type S3ClientConfig,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { type OutboundProxy, createProxyAgents } from '@rondo/platform';
import { requireThreadId } from '../provider/thread-ids';
import { writeChecked } from './checksums';
import {
  type SavedFile,
  SnapshotDamaged,
  type SnapshotInfo,
  type SnapshotKey,
  type SnapshotStore,
  snapshotInfo,
} from './snapshot-store';

export interface S3Settings {
  readonly bucket: string;
  /** Before every key; without slashes at its ends, and empty for none. */
  readonly prefix: string;
  /** Absent: Amazon's own. */
  readonly endpoint?: string | undefined;
  readonly region?: string | undefined;
  readonly proxy?: OutboundProxy | undefined;
  /** Absent: those that the AWS SDK finds in the environment or of the host. */
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string } | undefined;
}

/** Larger copies are sent in such parts, two at a time, which are held in memory. */
const partBytes = 16 * 1024 * 1024;
const partsAtOnce = 2;
const connectMs = 5_000;
/** Without any data. */
const silentMs = 60_000;

/**
 * Copies in a bucket of a service that speaks S3: `<prefix>/<thread>/<executor>.tar.gz`. What the copy is stands in the object's
 * metadata, so that both are replaced at once. A large one becomes visible only when all of its parts are there.
 */
export class S3Snapshots implements SnapshotStore {
  readonly name: string;
  private readonly client: S3Client;

  constructor(private readonly settings: S3Settings) {
    const { bucket, prefix, endpoint = 'https://s3.amazonaws.com' } = settings;
    this.name = `s3://${bucket}/${prefix} at ${endpoint}`;
    this.client = new S3Client(toClientConfig(settings));
  }

  async save(key: SnapshotKey, { file, info, signal }: SavedFile): Promise<void> {
    signal?.throwIfAborted();
    const source = createReadStream(file, { highWaterMark: 1024 * 1024 });
    const upload = new Upload({
      client: this.client,
      ...{ partSize: partBytes, queueSize: partsAtOnce },
      params: { ...this.toPlace(key), Body: source, Metadata: { copy: encodeInfo(info) } },
    });
    const abort = () => void upload.abort();
    signal?.addEventListener('abort', abort);
    try {
      await upload.done();
    } finally {
      signal?.removeEventListener('abort', abort);
      source.destroy();
    }
  }

  async fetch(key: SnapshotKey, into: string): Promise<SnapshotInfo | undefined> {
    const object = await this.client.send(new GetObjectCommand(this.toPlace(key))).catch((error: unknown) => {
      if (error instanceof NoSuchKey) return undefined;
      throw error;
    });
    if (!object) return undefined;
    const body = object.Body as Readable; // what the client gives in Node
    try {
      const info = decodeInfo(object.Metadata?.['copy']);
      await writeChecked(body, into, info);
      return info;
    } finally {
      body.destroy();
    }
  }

  async remove(threadId: string, executorId?: string): Promise<void> {
    if (executorId !== undefined) return this.delete(this.toPlace({ threadId, executorId }).Key);
    const { bucket: Bucket } = this.settings;
    const Prefix = `${this.toFolder(threadId)}/`;
    for (;;) {
      const { Contents = [], IsTruncated } = await this.client.send(new ListObjectsV2Command({ Bucket, Prefix }));
      for (const { Key } of Contents) if (Key !== undefined) await this.delete(Key);
      if (IsTruncated !== true) return;
    }
  }

  private async delete(Key: string): Promise<void> {
    await this.client.send(new DeleteObjectCommand({ Bucket: this.settings.bucket, Key }));
  }

  private toPlace({ threadId, executorId }: SnapshotKey): { Bucket: string; Key: string } {
    return { Bucket: this.settings.bucket, Key: `${this.toFolder(threadId)}/${executorId}.tar.gz` };
  }

  private toFolder(threadId: string): string {
    requireThreadId(threadId);
    const { prefix } = this.settings;
    return prefix === '' ? threadId : `${prefix}/${threadId}`;
  }
}

/** Checksums of the client's own are left out where they are not required: not every service knows them, and copies have one. */
function toClientConfig({ endpoint, region, credentials, proxy }: S3Settings): S3ClientConfig {
  return {
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: { connectionTimeout: connectMs, socketTimeout: silentMs, ...(proxy && createProxyAgents(proxy)) },
    ...(endpoint !== undefined && { endpoint, forcePathStyle: true, region: 'us-east-1' }),
    ...(region !== undefined && { region }),
    ...(credentials && { credentials }),
  };
}

/** Header values may hold ASCII only. */
const encodeInfo = (info: SnapshotInfo): string => Buffer.from(JSON.stringify(info)).toString('base64url');

function decodeInfo(text = ''): SnapshotInfo {
  try {
    return snapshotInfo.parse(JSON.parse(Buffer.from(text, 'base64url').toString()));
  } catch (error) {
    throw new SnapshotDamaged('What is known of the copy cannot be read.', { cause: error });
  }
}
