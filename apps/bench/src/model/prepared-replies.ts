import type { Plan } from './plan';
import { stamp } from './stamps';

/** Answers in OpenAI's wire protocol, serialized in advance, because the model must take less CPU than its clients. */
const begin =
  'data: {"id":"chatcmpl-bench","object":"chat.completion.chunk","created":1790000000,"model":"bench","choices":[{"index":0,"delta":';
const chunk = (delta: object): string =>
  `${begin}${JSON.stringify(delta)},"logprobs":null,"finish_reason":null}],"usage":null}\n\n`;
const ending = (finishReason: string): string =>
  `${begin}{},"logprobs":null,"finish_reason":"${finishReason}"}],"usage":null}\n\n` +
  'data: {"id":"chatcmpl-bench","object":"chat.completion.chunk","created":1790000000,"model":"bench","choices":[],' +
  '"usage":{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120}}\n\ndata: [DONE]\n\n';

export const opening = chunk({ role: 'assistant', content: '', refusal: null });
export const conclusion = ending('stop');
export const plainToken = chunk({ content: 'token ' });

export const stampedToken = (): string => chunk({ content: stamp() });

export function toolCall(plan: Plan, { tag, turn }: { tag: string; turn: number }): string {
  const function_ = { name: plan.tool, arguments: JSON.stringify(toArguments(plan, `${tag}-${turn}`)) };
  const call = { index: 0, id: `call_${tag}_${turn}`, type: 'function', function: function_ };
  return chunk({ role: 'assistant', content: null, tool_calls: [call] }) + ending('tool_calls');
}

function toArguments({ tool, toolMs }: Plan, effect: string): object {
  switch (tool) {
    case 'list_commands':
      return {};
    case 'ask':
      return { text: 'Which one?' };
    case 'execute_command':
      return { command: `sleep ${toolMs / 1000}; echo ${effect} >> effects`, blocking: true };
  }
}
