import type { SpokenCall, SpokenPart } from '../spoken-turns';
import { writeAttribute } from './entities';

/** Text, calls and results as one text; calls that follow each other are written together. */
export function writeTurn(parts: readonly SpokenPart[], writeCalls: (calls: readonly SpokenCall[]) => string): string {
  let written = '';
  let calls: SpokenCall[] = [];
  const onNewLine = (text: string) => {
    written += written === '' || written.endsWith('\n') || text.startsWith('\n') ? text : `\n${text}`;
  };
  const endCalls = () => {
    if (calls.length > 0) onNewLine(writeCalls(calls));
    calls = [];
  };

  for (const part of parts) {
    if (part.type === 'call') {
      calls.push(part);
      continue;
    }
    endCalls();
    onNewLine(part.type === 'text' ? part.text : writeResult(part));
  }
  endCalls();
  return written;
}

const writeResult = ({ name, text, isError }: Extract<SpokenPart, { type: 'result' }>): string =>
  `<tool_result ${writeAttribute('name', name)}${isError ? ' error="true"' : ''}>\n${text}\n</tool_result>`;

/** A call that could not be read goes back as the model wrote it, so that it can see what was wrong. */
export const asWritten = ({ written }: SpokenCall): string | undefined =>
  written?.startsWith('<') === true ? written : undefined;
