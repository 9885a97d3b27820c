import { z } from 'zod';

const maxKeys = 16;
export const metadataValue = z.string().max(512);

/** What a client stores with a thread or run: a few short texts. */
export const metadata = z
  .record(z.string().min(1).max(64), metadataValue)
  .refine((entries) => Object.keys(entries).length <= maxKeys, `must have at most ${maxKeys} keys`);

/** The filter of a list by what clients store with its items. */
export const metadataQuery = {
  metadata_key: z
    .string()
    .regex(/^[\w.-]{1,64}$/, 'can be searched for with letters, digits, `_`, `.` and `-` only')
    .optional()
    .describe('With `metadata_value`: those whose metadata has this value under this key.'),
  metadata_value: metadataValue.optional(),
};

type MetadataQuery = z.infer<z.ZodObject<typeof metadataQuery>>;

export const isWholeMetadata = ({ metadata_key: key, metadata_value: value }: MetadataQuery): boolean =>
  (key === undefined) === (value === undefined);

export const notWholeMetadata = {
  path: ['metadata_key'],
  message: 'give metadata_key and metadata_value, or neither',
};

/** Undefined for a request that does not filter by metadata. */
export const toMetadataFilter = ({ metadata_key: key, metadata_value: value }: MetadataQuery) =>
  key === undefined || value === undefined ? undefined : { key, value };
