/**
 * Matches result tags in any spelling that a model may read as one. Outputs and arguments are not trusted: a backslash
 * after the `<` prevents them from ending their result or beginning another. The quoting is reversible.
 */
const tag = String.raw`\\*\s*(?:\/\s*)?tool[_-]result`;
const unquoted = new RegExp(`<(?=${tag})`, 'gi');
const quoted = new RegExp(String.raw`<\\(?=${tag})`, 'gi');

export const quoteResultTags = (text: string): string => text.replace(unquoted, '<\\');

/** The text before `quoteResultTags`. */
export const unquoteResultTags = (text: string): string => text.replace(quoted, '<');
