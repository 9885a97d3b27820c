import type { TextCall, TextPart } from '../text-turns';
import { writeAttribute } from './entities';

/**
 * Text, calls and results as one text; consecutive calls are written together. Result tags in outputs and in text beside
 * results are quoted, so that neither can add a result.
 */
export function writeTurn(parts: readonly TextPart[], writeCalls: (calls: readonly TextCall[]) => string): string {
  const quote = parts.some(({ type }) => type === 'result') ? quoteResultTags : (text: string) => text;
  let written = '';
  let calls: TextCall[] = [];
  let textFrom = 0;
  const onNewLine = (text: string) => {
    written += written === '' || written.endsWith('\n') || text.startsWith('\n') ? text : `\n${text}`;
  };
  const endCalls = () => {
    if (calls.length > 0) onNewLine(writeCalls(calls));
    calls = [];
  };
  const endText = () => {
    endCalls();
    written = written.slice(0, textFrom) + quote(written.slice(textFrom));
  };

  for (const part of parts) {
    switch (part.type) {
      case 'call':
        calls.push(part);
        break;
      case 'text':
        endCalls();
        onNewLine(part.text);
        break;
      case 'result':
        endText();
        onNewLine(writeResult(part));
        textFrom = written.length;
    }
  }
  endText();
  return written;
}

const writeResult = ({ name, text, isError }: Extract<TextPart, { type: 'result' }>): string =>
  `<tool_result ${onOneLine(writeAttribute('name', name))}${isError ? ' error="true"' : ''}>\n${quoteResultTags(text)}\n</tool_result>`;

/** The name is the model's and may contain line breaks. */
const onOneLine = (attribute: string): string =>
  attribute.replace(/[\n\r\u2028\u2029]/g, (character) => `&#${character.charCodeAt(0)};`);

/** A malformed call goes back as the model wrote it, so that the model can see what was wrong. */
export const asWritten = ({ written }: TextCall): string | undefined =>
  written?.startsWith('<') === true ? written : undefined;

/**
 * Matches result tags in any spelling that a model may read as one. Outputs and arguments are not trusted: a backslash
 * after the `<` prevents them from ending their result or beginning another. The quoting is reversible. A model may not see
 * characters that are not shown (Unicode Cf, and those that are ignored by default), so they may stand anywhere in the name.
 */
const hidden = String.raw`\p{Cf}\p{Default_Ignorable_Code_Point}`;
const spellHidden = (word: string): string => Array.from(word).join(`[${hidden}]*`);
const name = `${spellHidden('tool')}[${hidden}]*[_-][${hidden}]*${spellHidden('result')}`;
const tag = String.raw`[\\\s${hidden}]*(?:\/[\s${hidden}]*)?${name}`;
const unquoted = new RegExp(`<(?=${tag})`, 'giu');
const quoted = new RegExp(String.raw`<\\(?=${tag})`, 'giu');

const quoteResultTags = (text: string): string => text.replace(unquoted, '<\\');

/** The text before `quoteResultTags`. */
export const unquoteResultTags = (text: string): string => text.replace(quoted, '<');
