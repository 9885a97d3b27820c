import type { ModelChunk, ModelEnd, ModelRequest, ReplyChunk } from '@rondo/domain';
import { SseReader } from '../sse';
import type { ReplyReader } from '../wire-protocol';

export const requestTo = (model: string, more: Partial<ModelRequest> = {}): ModelRequest => ({
  model,
  system: 'You are terse.',
  messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello?' }] }],
  tools: [],
  settings: {},
  ...more,
});

export interface ReadReply {
  readonly chunks: ModelChunk[];
  readonly text: string;
  readonly retries: Extract<ModelChunk, { type: 'retried' }>[];
  readonly end: ModelEnd;
}

/** Reads a stream to its end; `onChunk` receives each chunk as it arrives. */
export async function readReply(
  stream: AsyncIterable<readonly ModelChunk[]>,
  onChunk?: (chunk: ModelChunk) => void,
): Promise<ReadReply> {
  const chunks: ModelChunk[] = [];
  for await (const batch of stream) {
    for (const chunk of batch) {
      chunks.push(chunk);
      onChunk?.(chunk);
    }
  }
  const end = chunks.at(-1);
  if (end?.type !== 'end') throw new Error('The stream had no end');
  return { chunks, text: toText(chunks), retries: chunks.filter((chunk) => chunk.type === 'retried'), end };
}

export const toText = (chunks: readonly ModelChunk[]): string =>
  chunks.map((chunk) => (chunk.type === 'text' ? chunk.text : '')).join('');

/** The chunks that a reader makes of a whole recorded stream. */
export function readAll(reader: ReplyReader, stream: string): ReplyChunk[] {
  const chunks: ReplyChunk[] = [];
  for (const { data, name } of new SseReader().push(Buffer.from(stream))) reader.read(data, chunks, name);
  return chunks;
}
