/**
 * What could be taken for a tag of a result, in any spelling that a model may read as one. Outputs and arguments are not
 * trusted: a backslash behind the `<` keeps each of these from ending the result that it stands in, or from beginning
 * another. It is taken away again by as simple a rule, so the text is still all there.
 */
const tag = String.raw`\\*\s*(?:\/\s*)?tool[_-]result`;
const unquoted = new RegExp(`<(?=${tag})`, 'gi');
const quoted = new RegExp(String.raw`<\\(?=${tag})`, 'gi');

export const quoteResultTags = (text: string): string => text.replace(unquoted, '<\\');

/** The text before `quoteResultTags`. */
export const unquoteResultTags = (text: string): string => text.replace(quoted, '<');
