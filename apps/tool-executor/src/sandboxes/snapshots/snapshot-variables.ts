import { OutboundProxy, type proxyVariables } from '@rondo/platform';
import { z } from 'zod';
import { type CopySettings, openSnapshotStore, snapshotPlace } from '..';

const onlyS3 = 'only for a bucket';

/** Where copies of workspaces are kept, for executors that are lost. */
export const snapshotVariables = {
  SANDBOX_SNAPSHOTS: snapshotPlace.optional().meta({
    description:
      'Where workspaces are copied to when their sandboxes stop, so that another executor can restore those of a lost one: `s3://bucket/prefix`, or `file:///folder` for a folder that all executors share. The same for all executors. See docs/sandboxes.md.',
    example: 's3://rondo/workspaces',
    otherwise: 'no copies are made, and threads wait for their executor',
  }),
  SANDBOX_SNAPSHOTS_CLOSE_S: z.coerce.number().int().min(0).max(600).default(5).meta({
    description:
      'How long an executor that is shut down may copy the workspaces that have changed since their last copy.',
    unit: 's',
  }),
  SANDBOX_S3_ENDPOINT: z
    .url({ protocol: /^https?$/ })
    .optional()
    .meta({
      description: 'The address of a service that speaks S3, for `SANDBOX_SNAPSHOTS=s3://…`.',
      example: 'https://minio.internal:9000',
      otherwise: 'Amazon S3',
    }),
  SANDBOX_S3_REGION: z.string().min(1).optional().meta({
    description: 'The region of the bucket.',
    example: 'eu-central-1',
    otherwise: '`us-east-1` with an endpoint; else the one that the AWS SDK finds',
  }),
  SANDBOX_S3_ACCESS_KEY_ID: z.string().min(1).optional().meta({
    description: 'A key that may read, write, list and delete objects of the bucket. No sandbox and no log gets it.',
    otherwise: 'what the AWS SDK finds, for example the role of the host',
  }),
  SANDBOX_S3_SECRET_ACCESS_KEY: z.string().min(1).optional().meta({
    description: 'The secret of `SANDBOX_S3_ACCESS_KEY_ID`.',
    otherwise: onlyS3,
  }),
};

type SnapshotConfig = z.infer<z.ZodObject<typeof snapshotVariables>>;
type ProxyConfig = z.infer<z.ZodObject<typeof proxyVariables>>;

/** A key without its secret, and settings of a bucket that would be ignored, are refused. */
export function checkSnapshots(config: SnapshotConfig, context: z.RefinementCtx): void {
  const refuse = (variable: string, message: string) =>
    context.addIssue({ code: 'custom', path: [variable], message, input: undefined });
  const { SANDBOX_S3_ACCESS_KEY_ID: id, SANDBOX_S3_SECRET_ACCESS_KEY: secret } = config;
  if (id !== undefined && secret === undefined) {
    refuse('SANDBOX_S3_SECRET_ACCESS_KEY', 'required with SANDBOX_S3_ACCESS_KEY_ID');
  }
  if (id === undefined && secret !== undefined) {
    refuse('SANDBOX_S3_ACCESS_KEY_ID', 'required with SANDBOX_S3_SECRET_ACCESS_KEY');
  }
  if (config.SANDBOX_SNAPSHOTS?.kind === 's3') return;
  for (const name of ['SANDBOX_S3_ENDPOINT', 'SANDBOX_S3_REGION', 'SANDBOX_S3_ACCESS_KEY_ID'] as const) {
    if (config[name] !== undefined) refuse(name, 'takes effect with SANDBOX_SNAPSHOTS=s3://… only; unset it');
  }
}

export function readCopySettings(config: SnapshotConfig & ProxyConfig, executorId: string): CopySettings | undefined {
  const { SANDBOX_SNAPSHOTS: place, SANDBOX_SNAPSHOTS_CLOSE_S: closeS } = config;
  if (place === undefined) return undefined;
  const { SANDBOX_S3_ENDPOINT: endpoint, SANDBOX_S3_REGION: region } = config;
  const { SANDBOX_S3_ACCESS_KEY_ID: accessKeyId, SANDBOX_S3_SECRET_ACCESS_KEY: secretAccessKey } = config;
  const credentials = accessKeyId !== undefined && secretAccessKey !== undefined && { accessKeyId, secretAccessKey };
  const store = openSnapshotStore(place, {
    endpoint,
    region,
    proxy: OutboundProxy.from(config),
    ...(credentials && { credentials }),
  });
  return { store, executorId, closeWithinMs: closeS * 1_000 };
}
