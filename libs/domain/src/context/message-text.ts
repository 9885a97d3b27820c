import type { ContentBlock, NewMessage } from '@rondo/contract';
import { toModelResult } from './pair-calls';

/** A message as plain text: what is counted, what a summarizer reads, and what `expand_message` shows. */
export const toText = ({ content }: NewMessage): string =>
  content
    .map(textOfBlock)
    .filter((text) => text !== '')
    .join('\n');

/** Leaves reasoning out: only the model that wrote it may read it. */
function textOfBlock(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'image':
      return '[image]';
    case 'reasoning':
      return '';
    case 'tool_call':
      return `${block.name}(${block.raw_arguments ?? JSON.stringify(block.arguments)})`;
    case 'tool_result':
      return toModelResult(block.tool_call_id, block.result).text + (block.result.image ? '\n[image]' : '');
  }
}
