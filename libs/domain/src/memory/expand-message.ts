import type { z } from 'zod';
import { type NewMessage, type ToolResult, failedResult } from '@rondo/contract';
import { textOf } from '../context/message-text';
import type { expandMessage } from '../tools/memory.tools';

/** Characters; small enough for the context of any model. */
const maxPieceLength = 12_000;

export function expand(
  { message_id, start }: z.infer<typeof expandMessage.input>,
  conversation: readonly NewMessage[],
): ToolResult {
  const message = conversation.find(({ id }) => id === message_id);
  if (!message) return failedResult(`There is no message ${message_id} in this conversation.`);

  const text = textOf(message);
  if (start > 0 && start >= text.length) return failedResult(`The message has ${text.length} characters only.`);

  const end = Math.min(text.length, start + maxPieceLength);
  const more = end < text.length;
  const note = more
    ? `\n[Characters ${start} to ${end} of ${text.length}. The next piece: expand_message("${message_id}", start: ${end}).]`
    : '';
  return { success: true, output: text.slice(start, end) + note, ...(more && { truncated: true }) };
}
