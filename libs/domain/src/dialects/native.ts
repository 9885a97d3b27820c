import type { Message } from '../message';
import type { ModelMessage, ModelTool } from '../model';
import { type ToolDefinition, argumentsSchema } from '../tools/define-tool';
import { pairCalls } from './pair-calls';
import type {
  DecodedCall,
  DecodedReply,
  Dialect,
  EncodedConversation,
  ReplyChunk,
  ReplyDecoder,
  ReplyPiece,
} from './dialect';

/** Tool calls as the provider's own API has them: nothing to say in the prompt, nothing to parse but JSON. */
export const nativeDialect: Dialect = {
  name: 'native',
  encode: (conversation: readonly Message[], tools: readonly ToolDefinition[]): EncodedConversation => ({
    instructions: '',
    messages: pairCalls(conversation) satisfies ModelMessage[],
    tools: tools.map(toModelTool),
  }),
  decoder: () => new NativeDecoder(),
};

const toModelTool = (tool: ToolDefinition): ModelTool => ({
  name: tool.name,
  description: tool.description,
  schema: argumentsSchema(tool),
});

class NativeDecoder implements ReplyDecoder {
  private readonly content: DecodedReply['content'][number][] = [];
  private readonly calls = new Map<number, { name: string; written: string }>();

  push(chunk: ReplyChunk): readonly ReplyPiece[] {
    switch (chunk.type) {
      case 'text':
      case 'reasoning':
        this.extend(chunk.type, chunk.text);
        return [{ type: chunk.type, text: chunk.text }];
      case 'reasoning_end':
        this.closeReasoning(chunk);
        return [];
      case 'call_start':
        this.calls.set(chunk.index, { name: chunk.name, written: '' });
        return [];
      case 'call_arguments':
        return this.extendCall(chunk.index, chunk.text);
    }
  }

  end(): DecodedReply {
    return {
      content: this.content.filter((block) => block.text !== '' || isSealed(block)),
      calls: [...this.calls].sort(([a], [b]) => a - b).map(([, call], index) => decodeCall(index, call)),
    };
  }

  private extend(type: 'text' | 'reasoning', text: string): void {
    const last = this.content.at(-1);
    if (last?.type === type && !isSealed(last)) last.text += text;
    else this.content.push({ type, text });
  }

  private closeReasoning({ signature, redacted }: Extract<ReplyChunk, { type: 'reasoning_end' }>): void {
    const last = this.content.at(-1);
    const seal = { ...(signature !== undefined && { signature }), ...(redacted !== undefined && { redacted }) };
    if (last?.type === 'reasoning' && !isSealed(last)) Object.assign(last, seal);
    else this.content.push({ type: 'reasoning', text: '', ...seal });
  }

  private extendCall(index: number, text: string): readonly ReplyPiece[] {
    const call = this.calls.get(index);
    if (!call) return [];
    call.written += text;
    return [{ type: 'call_arguments', index, name: call.name, text }];
  }
}

const isSealed = (block: DecodedReply['content'][number]): boolean =>
  block.type === 'reasoning' && (block.signature !== undefined || block.redacted !== undefined);

/** Empty arguments mean none (W10); anything that is not one JSON object is malformed, never guessed at (W11). */
function decodeCall(index: number, { name, written }: { name: string; written: string }): DecodedCall {
  if (written.trim() === '') return { index, name, arguments: {} };

  const parsed = parseObject(written);
  return 'value' in parsed
    ? { index, name, arguments: parsed.value }
    : { index, name, arguments: {}, malformed: { reason: parsed.reason, written } };
}

function parseObject(text: string): { value: Record<string, unknown> } | { reason: string } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { reason: `The arguments are not valid JSON: ${error instanceof Error ? error.message : 'unreadable'}` };
  }
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? { value: value as Record<string, unknown> } // an object that is no array and not null is a record
    : { reason: 'The arguments must be one JSON object.' };
}
