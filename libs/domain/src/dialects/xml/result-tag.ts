/**
 * Matches result tags in any spelling that a model may read as one. Outputs and arguments are not trusted: a backslash
 * after the `<` prevents them from ending their result or beginning another. The quoting is reversible. A model may not see
 * characters that are not shown (Unicode Cf, and those that are ignored by default), so they may stand anywhere in the name.
 */
const hidden = String.raw`\p{Cf}\p{Default_Ignorable_Code_Point}`;
const spelled = (word: string): string => Array.from(word).join(`[${hidden}]*`);
const name = `${spelled('tool')}[${hidden}]*[_-][${hidden}]*${spelled('result')}`;
const tag = String.raw`[\\\s${hidden}]*(?:\/[\s${hidden}]*)?${name}`;
const unquoted = new RegExp(`<(?=${tag})`, 'giu');
const quoted = new RegExp(String.raw`<\\(?=${tag})`, 'giu');

export const quoteResultTags = (text: string): string => text.replace(unquoted, '<\\');

/** The text before `quoteResultTags`. */
export const unquoteResultTags = (text: string): string => text.replace(quoted, '<');
