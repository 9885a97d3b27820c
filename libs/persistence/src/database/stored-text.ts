/**
 * Replaces what a `text` column cannot hold: Postgres refuses NUL, and a lone surrogate is invalid UTF-8. JSON columns
 * do not need it, because JSON.stringify escapes both.
 */
export const storedText = (text: string): string => text.replace(/[\0\p{Surrogate}]/gu, '\u{FFFD}');

/** The same as JSON, which the statement turns into text by `#>> '{}'`. */
export const storedTextAsJson = (text: string): string => JSON.stringify(storedText(text));
