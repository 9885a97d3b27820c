import type { MetadataQuery } from '@rondo/contract/api';

/** Undefined for a request that does not filter by metadata. */
export const toMetadataFilter = ({ metadata_key: key, metadata_value: value }: MetadataQuery) =>
  key === undefined || value === undefined ? undefined : { key, value };
