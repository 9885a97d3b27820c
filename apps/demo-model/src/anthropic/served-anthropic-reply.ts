import { type Part, argumentsText, listParts, listPieces } from '../replay/parts';
import type { Frame, Reply } from '../protocol';
import { type FinishReason, type Turn, toFinishReason } from '../script/turn';
import { toSignature } from './served-anthropic-rules';

type Event = { readonly type: string } & Readonly<Record<string, unknown>>;

const event = (data: Event): string => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
const structure = (...data: Event[]): Frame => ({ text: data.map(event).join(''), outputChars: 0 });

export function* anthropicFrames(reply: Reply): Generator<Frame> {
  const message = {
    ...toMessage(reply),
    content: [],
    stop_reason: null,
    usage: { ...toUsage(reply), output_tokens: 1 },
  };
  yield structure({ type: 'message_start', message }, { type: 'ping' });

  let index = 0;
  for (const part of listParts(reply.turn)) {
    yield structure({ type: 'content_block_start', index, content_block: openBlock(reply, part) });
    for (const piece of listPieces(part.text, reply.turn)) {
      const data = { type: 'content_block_delta', index, delta: toDelta(part, piece) };
      yield { text: event(data), outputChars: piece.length };
    }
    if (part.type === 'reasoning') {
      const delta = { type: 'signature_delta', signature: toSignature(part.text) };
      yield structure({ type: 'content_block_delta', index, delta });
    }
    yield structure({ type: 'content_block_stop', index });
    index += 1;
  }

  const delta = { stop_reason: stopReasons[toFinishReason(reply.turn)], stop_sequence: null };
  yield structure({ type: 'message_delta', delta, usage: toUsage(reply) }, { type: 'message_stop' });
}

export function anthropicMessage(reply: Reply): object {
  const { reasoning, text, calls = [] } = reply.turn;
  return {
    ...toMessage(reply),
    content: [
      ...(reasoning ? [{ type: 'thinking', thinking: reasoning, signature: toSignature(reasoning) }] : []),
      ...(text ? [{ type: 'text', text, citations: null }] : []),
      ...calls.map((call, index) => ({ ...toolUse(reply, index, call.name), input: toInput(call) })),
    ],
    stop_reason: stopReasons[toFinishReason(reply.turn)],
    usage: toUsage(reply),
  };
}

const toMessage = ({ key, asked }: Reply) => ({
  id: `msg_${key}`,
  type: 'message',
  role: 'assistant',
  model: asked.model,
  stop_sequence: null,
});

function openBlock(reply: Reply, part: Part): object {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: '', citations: null };
    case 'reasoning':
      return { type: 'thinking', thinking: '', signature: '' };
    case 'call':
      return toolUse(reply, part.index, part.name);
  }
}

function toDelta(part: Part, piece: string): object {
  switch (part.type) {
    case 'text':
      return { type: 'text_delta', text: piece };
    case 'reasoning':
      return { type: 'thinking_delta', thinking: piece };
    case 'call':
      return { type: 'input_json_delta', partial_json: piece };
  }
}

const toolUse = ({ key }: Reply, index: number, name: string) => ({
  type: 'tool_use',
  id: `toolu_${key}_${index}`,
  name,
  input: {},
  caller: { type: 'direct' },
});

/** Outside a stream the input must be an object, so invalid JSON becomes the empty input. */
function toInput(call: NonNullable<Turn['calls']>[number]): unknown {
  try {
    return JSON.parse(argumentsText(call));
  } catch {
    return {};
  }
}

const stopReasons: Record<FinishReason, string> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'refusal',
};

const toUsage = ({ usage }: Reply) => ({
  input_tokens: Math.max(0, usage.inputTokens - usage.cachedTokens - usage.writtenTokens),
  cache_creation_input_tokens: usage.writtenTokens,
  cache_read_input_tokens: usage.cachedTokens,
  output_tokens: usage.outputTokens,
});
