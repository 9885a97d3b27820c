/**
 * The JSON of a column, so that Postgres can read its fields: it refuses `\u0000` and lone surrogates, which JSON.stringify
 * writes as escapes. Backslashes are lost, and control characters are replaced, so it is for names and flags only.
 */
export const readableJson = (column: string): string =>
  String.raw`regexp_replace(replace(${column}::text, '\\', ''), '\\u[0-9a-f]{4}', '?', 'g')::json`;
