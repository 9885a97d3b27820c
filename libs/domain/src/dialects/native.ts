import type { Message } from '@rondo/contract';
import type { ModelMessage, ModelTool } from '../models/model';
import { type ToolDefinition, argumentsSchema } from '../tools/define-tool';
import type {
  DecodedCall,
  DecodedReply,
  Dialect,
  EncodedConversation,
  ReplyChunk,
  ReplyDecoder,
  ReplyPiece,
} from './dialect';
import { pairCalls } from './pair-calls';
import { parseObject } from './parse-object';
import { ReplyContent } from './reply-content';

/** The tool calls of the provider's API: nothing to add to the prompt, and only the JSON of arguments to parse. */
export const nativeDialect = {
  name: 'native',
  encode: (conversation: readonly Message[], tools: readonly ToolDefinition[]): EncodedConversation => ({
    instructions: '',
    messages: pairCalls(conversation) satisfies ModelMessage[],
    tools: tools.map(toModelTool),
  }),
  decoder: (): ReplyDecoder => new NativeDecoder(),
} satisfies Dialect;

const toModelTool = (tool: ToolDefinition): ModelTool => ({
  name: tool.name,
  description: tool.description,
  schema: argumentsSchema(tool),
});

class NativeDecoder implements ReplyDecoder {
  calls: readonly DecodedCall[] = [];
  readonly isFull = false;
  private readonly reply = new ReplyContent();
  private readonly written = new Map<number, { name: string; written: string }>();

  get content(): DecodedReply['content'] {
    return this.reply.blocks;
  }

  push(chunk: ReplyChunk): readonly ReplyPiece[] {
    switch (chunk.type) {
      case 'text':
      case 'reasoning':
        this.reply.add(chunk.type, chunk.text);
        return [{ type: chunk.type, text: chunk.text }];
      case 'reasoning_end':
        this.reply.seal(chunk);
        return [];
      case 'call_start':
        this.completeReadable();
        this.written.set(chunk.index, { name: chunk.name, written: '' });
        return [];
      case 'call_arguments':
        return this.extendCall(chunk.index, chunk.text);
    }
  }

  end(): DecodedReply {
    this.calls = this.decoded();
    return { content: this.content, calls: this.calls, rest: [] };
  }

  /** A new call completes those before it, unless one of them still waits for its arguments. */
  private completeReadable(): void {
    const incomplete = [...this.written.values()].findIndex(({ written }) => !('value' in parseObject(written)));
    if (incomplete < 0) this.calls = this.decoded();
  }

  private decoded(): DecodedCall[] {
    return [...this.written]
      .sort(([a], [b]) => a - b)
      .map(([, call], index) => this.calls[index] ?? decodeCall(index, call));
  }

  private extendCall(index: number, text: string): readonly ReplyPiece[] {
    const call = this.written.get(index);
    if (!call) return [];
    call.written += text;
    return [{ type: 'call_arguments', index, name: call.name, text }];
  }
}

/** Empty arguments mean none. Anything else that is not one JSON object is malformed; it is not repaired by guessing. */
function decodeCall(index: number, { name, written }: { name: string; written: string }): DecodedCall {
  if (written.trim() === '') return { index, name, arguments: {} };

  const parsed = parseObject(written);
  return 'value' in parsed
    ? { index, name, arguments: parsed.value }
    : { index, name, arguments: {}, malformed: { reason: parsed.reason, written } };
}
