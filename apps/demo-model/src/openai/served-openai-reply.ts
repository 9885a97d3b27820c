import { type Part, argumentsText, listParts, listPieces } from '../replay/parts';
import type { Frame, Reply } from '../protocol';
import { toFinishReason } from '../script/turn';

const structure = (text: string): Frame => ({ text, outputChars: 0 });

/** Hundreds of thousands of chunks per second are written here, so their common part is serialized once. */
export function* openAiFrames(reply: Reply): Generator<Frame> {
  const head = toHead(reply, 'chat.completion.chunk');
  const begin = `data: ${JSON.stringify(head).slice(0, -1)},"choices":[{"index":0,"delta":`;
  const end = reply.asked.includeUsage ? '}],"usage":null}\n\n' : '}]}\n\n';
  const chunk = (delta: object, finishReason: string | null = null): string =>
    `${begin}${JSON.stringify(delta)},"logprobs":null,"finish_reason":${JSON.stringify(finishReason)}${end}`;

  yield structure(chunk({ role: 'assistant', content: '', refusal: null }));
  for (const part of listParts(reply.turn)) {
    if (part.type === 'call') yield structure(chunk({ tool_calls: [callStart(reply, part.index, part.name)] }));
    for (const piece of listPieces(part.text, reply.turn)) {
      yield { text: chunk(toDelta(part, piece)), outputChars: piece.length };
    }
  }
  yield structure(chunk({}, toFinishReason(reply.turn)));
  if (reply.asked.includeUsage) {
    yield structure(`data: ${JSON.stringify({ ...head, choices: [], usage: toUsage(reply) })}\n\n`);
  }
  yield structure('data: [DONE]\n\n');
}

function toDelta(part: Part, piece: string): object {
  switch (part.type) {
    case 'text':
      return { content: piece };
    case 'reasoning':
      return { reasoning_content: piece };
    case 'call':
      return { tool_calls: [{ index: part.index, function: { arguments: piece } }] };
  }
}

export function openAiCompletion(reply: Reply): object {
  const { text, reasoning, calls = [] } = reply.turn;
  const message = {
    role: 'assistant',
    content: text ?? null,
    refusal: null,
    ...(reasoning === undefined ? {} : { reasoning_content: reasoning }),
    ...(calls.length === 0
      ? {}
      : {
          tool_calls: calls.map((call, index) => ({
            id: callId(reply, index),
            type: 'function',
            function: { name: call.name, arguments: argumentsText(call) },
          })),
        }),
  };
  return {
    ...toHead(reply, 'chat.completion'),
    choices: [{ index: 0, message, logprobs: null, finish_reason: toFinishReason(reply.turn) }],
    usage: toUsage(reply),
  };
}

const toHead = ({ key, asked }: Reply, object: string) => ({
  id: `chatcmpl-${key}`,
  object,
  created: Math.floor(Date.now() / 1000),
  model: asked.model,
});

const callId = ({ key }: Reply, index: number): string => `call_${key}_${index}`;

const callStart = (reply: Reply, index: number, name: string) => ({
  index,
  id: callId(reply, index),
  type: 'function',
  function: { name, arguments: '' },
});

const toUsage = ({ usage }: Reply) => ({
  prompt_tokens: usage.inputTokens,
  completion_tokens: usage.outputTokens,
  total_tokens: usage.inputTokens + usage.outputTokens,
  prompt_tokens_details: { cached_tokens: usage.cachedTokens },
  completion_tokens_details: { reasoning_tokens: usage.reasoningTokens },
});
