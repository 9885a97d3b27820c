import { type FactWithType, type Usage, addUsage, noUsage } from '@rondo/contract';

/** An item of the output of a response. */
export type Item = { readonly id: string; readonly type: string; readonly status: ItemStatus } & Readonly<
  Record<string, unknown>
>;
export type ItemStatus = 'in_progress' | 'completed' | 'incomplete' | 'failed';

/** Text that is being written. */
export interface OpenText {
  readonly kind: 'text' | 'reasoning';
  readonly index: number;
  readonly itemId: string;
  text: string;
}

export const toTextPart = (text: string) => ({ type: 'output_text', text, annotations: [], logprobs: [] });
export const toSummary = (text: string) => ({ type: 'summary_text', text });

export const toMessage = ({ itemId: id, text }: OpenText, status: ItemStatus): Item => ({
  id,
  type: 'message',
  role: 'assistant',
  status,
  content: [toTextPart(text)],
});

export const toReasoning = ({ itemId: id, text }: OpenText, status: ItemStatus): Item => ({
  id,
  type: 'reasoning',
  status,
  summary: [toSummary(text)],
});

interface McpCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
  readonly approval_request_id: string | null;
}

export const toMcpCall = (call: McpCall): Item => ({
  type: 'mcp_call',
  status: 'in_progress',
  server_label: 'rondo',
  output: null,
  error: null,
  ...call,
});

/** The usage of several calls, with the parts that some providers name. */
export interface UsedTokens extends Usage {
  readonly cache_write_tokens: number;
  readonly reasoning_tokens: number;
}

export const nothingUsed: UsedTokens = { ...noUsage, cache_write_tokens: 0, reasoning_tokens: 0 };

export const addCall = (before: UsedTokens, call: FactWithType<'usage.recorded'>['data']): UsedTokens => ({
  ...addUsage(before, call),
  cache_write_tokens: before.cache_write_tokens + (call.cache_write_tokens ?? 0),
  reasoning_tokens: before.reasoning_tokens + (call.reasoning_tokens ?? 0),
});

export const toUsage = (used: UsedTokens) => ({
  input_tokens: used.input_tokens,
  input_tokens_details: { cached_tokens: used.cached_tokens, cache_write_tokens: used.cache_write_tokens },
  output_tokens: used.output_tokens,
  output_tokens_details: { reasoning_tokens: used.reasoning_tokens },
  total_tokens: used.input_tokens + used.output_tokens,
});

/** The words of a response, as a chat has them. */
export function toText({ output }: { readonly output: readonly Item[] }): string {
  const texts = output.flatMap((item) =>
    item.type === 'message' && Array.isArray(item['content'])
      ? item['content'].map((part: { text: string }) => part.text)
      : describeApproval(item),
  );
  return texts.join('\n\n');
}

/** A chat has no item for it. */
export const describeApproval = ({ type, name }: Pick<Item, 'type'> & { readonly name?: unknown }): string[] =>
  type === 'mcp_approval_request' ? [`May ${String(name)} be called? Decide it in the console.`] : [];
