import type { ReplyChunk } from '@rondo/domain';

/** Texts of the same kind that follow each other, as one: what the network brings at once is said at once. */
export function joinTextChunks(chunks: readonly ReplyChunk[]): readonly ReplyChunk[] {
  if (chunks.length < 2) return chunks;
  const whole: ReplyChunk[] = [];
  for (const chunk of chunks) {
    const more = continued(whole.at(-1), chunk);
    if (more) whole[whole.length - 1] = more;
    else whole.push(chunk);
  }
  return whole;
}

function continued(last: ReplyChunk | undefined, next: ReplyChunk): ReplyChunk | undefined {
  switch (next.type) {
    case 'text':
    case 'reasoning':
      return last?.type === next.type ? { type: next.type, text: last.text + next.text } : undefined;
    case 'call_arguments':
      return last?.type === next.type && last.index === next.index
        ? { type: next.type, index: next.index, text: last.text + next.text }
        : undefined;
    case 'call_start':
    case 'reasoning_end':
      return undefined;
  }
}
