import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { FolderSnapshots } from './folder-snapshots';
import { type S3Settings, S3Snapshots } from './s3-snapshots';
import type { SnapshotStore } from './snapshot-store';

/** A folder, or a part of a bucket. */
export type SnapshotPlace =
  | { readonly kind: 'folder'; readonly folder: string }
  | ({ readonly kind: 's3' } & Pick<S3Settings, 'bucket' | 'prefix'>);

const bucketUrl = /^s3:\/\/(?<bucket>[a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(?<prefix>[\w!.*'()/-]*))?$/;
const folderUrl = z.url({ protocol: /^file$/, hostname: /^$/ });

/** Where copies are kept, from its address: `file:///folder` or `s3://bucket/prefix`. */
export const snapshotPlace = z.string().transform((url, context): SnapshotPlace => {
  const groups = bucketUrl.exec(url)?.groups;
  if (groups) {
    const { bucket = '', prefix = '' } = groups;
    return { kind: 's3', bucket, prefix: prefix.replace(/^\/+|\/+$/g, '') };
  }
  if (folderUrl.safeParse(url).success) return { kind: 'folder', folder: fileURLToPath(url) };
  context.addIssue({ code: 'custom', message: 'expected s3://bucket/prefix or file:///folder', input: url });
  return z.NEVER;
});

export function openSnapshotStore(
  place: SnapshotPlace,
  access: Pick<S3Settings, 'endpoint' | 'region' | 'credentials' | 'proxy'>,
): SnapshotStore {
  if (place.kind === 'folder') return new FolderSnapshots(place.folder);
  return new S3Snapshots({ ...access, bucket: place.bucket, prefix: place.prefix });
}
