/**
 * Replaces what a `text` column cannot hold: Postgres refuses NUL, and a lone surrogate is invalid UTF-8. JSON columns
 * do not need it, because JSON.stringify escapes both.
 */
export const toStoredText = (text: string): string => text.replace(/[\0\p{Surrogate}]/gu, '\u{FFFD}');

/** The same as JSON, which the statement turns into text by `#>> '{}'`. */
export const toStoredJson = (text: string): string => JSON.stringify(toStoredText(text));

/** An expression of SQL for a time as the API writes it, also inside of JSON. */
export const utcText = (time: string): string => `to_char(${time} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/**
 * The JSON of a column, so that Postgres can read its fields: it refuses `\u0000` and lone surrogates, which JSON.stringify
 * writes as escapes. Backslashes are lost, and control characters are replaced, so it is for names and flags only.
 */
export const readableJson = (column: string): string =>
  String.raw`regexp_replace(replace(${column}::text, '\\', ''), '\\u[0-9a-f]{4}', '?', 'g')::json`;
