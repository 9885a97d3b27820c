import type { MetadataQuery } from '@rondo/contract/api';

export { isWholeMetadata, metadata, metadataQuery, notWholeMetadata } from '@rondo/contract/api';

export const metadataOf = ({ metadata_key: key, metadata_value: value }: MetadataQuery) =>
  key === undefined || value === undefined ? undefined : { key, value };
