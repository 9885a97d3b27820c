/**
 * Text as a `text` column can hold it: Postgres refuses NUL, and half a surrogate pair is no UTF-8. JSON columns need
 * none of this, because JSON.stringify escapes both.
 */
export const storedText = (text: string): string => text.replace(/[\0\p{Surrogate}]/gu, '\u{FFFD}');

/** The same as JSON, which a statement makes text again by `#>> '{}'`. */
export const storedTextAsJson = (text: string): string => JSON.stringify(storedText(text));
