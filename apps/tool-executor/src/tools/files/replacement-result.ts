import { type ToolResult, failedResult } from '@rondo/contract';
import { clipMiddle } from '../clip-text';
import { succeeded } from '../tool-handler';
import type { Replaced } from './replace-once';

/** What to write, if the text was found once, and what the model is told. */
export interface Edit {
  readonly content?: Buffer;
  readonly result: ToolResult;
}

export function resultOfReplacement(path: string, replaced: Replaced): Edit {
  switch (replaced.found) {
    case 'nowhere':
      return failedEdit(`old_str does not occur in ${path}. It must match byte for byte, white space included.`);
    case 'several':
      return failedEdit(
        `old_str occurs more than once in ${path}, on lines ${replaced.lines.join(', ')}. ` +
          'Take in more of the text around the one that you mean.',
      );
    case 'once':
      return { content: replaced.content, result: succeeded(editedText(path, replaced.snippet)) };
  }
}

export const failedEdit = (error: string): Edit => ({ result: failedResult(error) });

export const editedText = (path: string, snippet: string): string =>
  `Edited ${path}. It now reads:\n${clipMiddle(snippet, { limit: 4_000 }).text}`;
