/** Rows whose metadata has this value under this key. The key has letters, digits, `_`, `.` and `-` only. */
export interface MetadataFilter {
  readonly key: string;
  readonly value: string;
}

/**
 * Metadata is stored as JSON.stringify has written it, where an unescaped quote before a plain key can only begin that key.
 * Postgres cannot read the fields of every such JSON: it refuses `\u0000`. `written` is `writtenMetadata` as a parameter.
 */
export const hasMetadata = (metadata: string, written: string): string =>
  `position(${written} in ${metadata}::text) > 0`;

export const writeMetadata = ({ key, value }: MetadataFilter): string => JSON.stringify({ [key]: value }).slice(1, -1);
