import type { TextCall, TextPart } from '../text-turns';
import { writeAttribute } from './entities';
import { quoteResultTags } from './result-tag';

/**
 * Text, calls and results as one text; calls that follow each other are written together. Only the results have tags of
 * results: neither what a tool put out nor what the model said beside it can add one.
 */
export function writeTurn(parts: readonly TextPart[], writeCalls: (calls: readonly TextCall[]) => string): string {
  const quote = parts.some(({ type }) => type === 'result') ? quoteResultTags : (text: string) => text;
  let written = '';
  let calls: TextCall[] = [];
  let wordsFrom = 0;
  const onNewLine = (text: string) => {
    written += written === '' || written.endsWith('\n') || text.startsWith('\n') ? text : `\n${text}`;
  };
  const endCalls = () => {
    if (calls.length > 0) onNewLine(writeCalls(calls));
    calls = [];
  };
  const endWords = () => {
    endCalls();
    written = written.slice(0, wordsFrom) + quote(written.slice(wordsFrom));
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
        endWords();
        onNewLine(writeResult(part));
        wordsFrom = written.length;
    }
  }
  endWords();
  return written;
}

const writeResult = ({ name, text, isError }: Extract<TextPart, { type: 'result' }>): string =>
  `<tool_result ${onOneLine(writeAttribute('name', name))}${isError ? ' error="true"' : ''}>\n${quoteResultTags(text)}\n</tool_result>`;

/** A model may call a tool by any name. */
const onOneLine = (attribute: string): string =>
  attribute.replace(/[\n\r\u2028\u2029]/g, (character) => `&#${character.charCodeAt(0)};`);

/** A call that could not be read goes back as the model wrote it, so that it can see what was wrong. */
export const asWritten = ({ written }: TextCall): string | undefined =>
  written?.startsWith('<') === true ? written : undefined;
