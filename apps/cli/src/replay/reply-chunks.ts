import type { ContentBlock, Message, RecordedFact, RunError } from '@rondo/contract';
import {
  type AgentRun,
  type CallNotes,
  type ModelChunk,
  type ModelEnd,
  contextOverflow,
  dialectNamed,
} from '@rondo/domain';

type Usage = Extract<RecordedFact, { type: 'usage.recorded' }>;

/** What the model put out, from the facts that follow its request: `facts` begins with the first of them. */
export function replyChunks(facts: readonly RecordedFact[], agent: AgentRun): ModelChunk[] {
  const at = facts.findIndex(({ type }) => type === 'usage.recorded');
  const whole = at < 0 ? facts : facts.slice(0, at);
  const retries = whole.flatMap((fact) => (fact.type === 'model.retried' ? [toRetry(fact)] : []));
  const parts = whole.flatMap((fact) =>
    fact.type === 'message.created' && fact.data.message.type === 'assistant' ? [fact.data.message] : [],
  );
  const usage = facts[at];
  const end = usage?.type === 'usage.recorded' ? [toEnd(usage, facts.slice(at + 1))] : [];
  return [...retries, ...listChunks(parts, agent), ...end];
}

const toRetry = ({ data }: Extract<RecordedFact, { type: 'model.retried' }>): ModelChunk => ({
  type: 'retried',
  attempt: data.attempt,
  delayMs: data.delay_ms,
  error: data.error,
  ...(data.paced_by !== undefined && { pacedBy: data.paced_by }),
});

/** The log says how the reply ended; earlier versions have its error only in the fact that follows from it. */
function toEnd({ data }: Usage, after: readonly RecordedFact[]): ModelEnd {
  const { finish_reason: reason } = data;
  const end = { type: 'end', usage: usageIn(data), notes: notesIn(data) } as const;
  const error = data.error ?? errorAfter(after);
  switch (reason) {
    case 'stop':
    case 'length':
    case 'tool_calls':
      return { ...end, how: 'finished', finishReason: reason };
    case 'broken':
      return { ...end, how: 'broken', error, ...pauseAfter(after) };
    case 'failed':
    case 'fell_back':
      return { ...end, how: 'failed', error };
    case 'overflow':
      return { ...end, how: 'failed', error: { code: contextOverflow, message: 'too long' } };
    default:
      return { ...end, how: 'aborted' };
  }
}

function pauseAfter(facts: readonly RecordedFact[]): { readonly retryAfterMs?: number } {
  const [fact] = facts.filter(({ type }) => type === 'iteration.restarted');
  const retry = fact?.type === 'iteration.restarted' ? fact.data.retry : undefined;
  return retry ? { retryAfterMs: retry.delay_ms } : {};
}

const usageIn = (data: Usage['data']) => ({
  input_tokens: data.input_tokens,
  cached_tokens: data.cached_tokens,
  output_tokens: data.output_tokens,
  cost_usd: data.cost_usd,
  estimated: data.estimated,
  ...(data.list_cost_usd !== undefined && { listCostUsd: data.list_cost_usd }),
  ...(data.cache_write_tokens !== undefined && { cacheWriteTokens: data.cache_write_tokens }),
  ...(data.reasoning_tokens !== undefined && { reasoningTokens: data.reasoning_tokens }),
});

const notesIn = (data: Usage['data']): CallNotes => ({
  ...(data.provider_finish_reason !== undefined && { finishReason: data.provider_finish_reason }),
  ...(data.reasoning_effort && { effort: data.reasoning_effort }),
  ...(data.omitted_tools && { omittedTools: data.omitted_tools }),
  ...(data.omitted_parameters && { omittedParameters: data.omitted_parameters }),
});

function errorAfter(facts: readonly RecordedFact[]): RunError {
  const [fact] = facts.filter(({ type }) => type === 'model.fell_back' || type === 'run.failed');
  if (fact?.type === 'model.fell_back' || fact?.type === 'run.failed') {
    const { code, message } = fact.data.error;
    return { code, message };
  }
  return { code: 'model_error', message: 'The reply broke off.' };
}

function listChunks(parts: readonly Message[], agent: AgentRun): ModelChunk[] {
  const blocks = parts.flatMap(({ content }) => content);
  const isNative = agent.settings.processor.dialect === 'native';
  const text = isNative ? nativeChunks : textChunks;
  return text(blocks, agent, parts[0]);
}

type Writer = (blocks: readonly ContentBlock[], agent: AgentRun, part: Message | undefined) => ModelChunk[];

const nativeChunks: Writer = (blocks) => {
  let calls = 0;
  return blocks.flatMap((block): ModelChunk[] => {
    if (block.type !== 'tool_call') return plainChunks(block);
    const index = calls++;
    const written = block.raw_arguments ?? JSON.stringify(block.arguments);
    return [
      { type: 'call_start', index, name: block.name },
      { type: 'call_arguments', index, text: written },
    ];
  });
};

/** In these dialects a call is text. A text between two calls stands as it is; the JSON mode has one decision in all. */
const textChunks: Writer = (blocks, agent, part) => {
  if (!part) return [];
  const writeReply = (content: ContentBlock[]): ModelChunk => ({
    type: 'text',
    text: writeMessage(agent, { ...part, content }),
  });
  if (agent.settings.processor.dialect === 'json')
    return [
      ...blocks.filter(isReasoning).flatMap(plainChunks),
      writeReply(blocks.filter((block) => !isReasoning(block))),
    ];
  return blocks.flatMap((block) => (block.type === 'tool_call' ? [writeReply([block])] : plainChunks(block)));
};

const isReasoning = ({ type }: ContentBlock): boolean => type === 'reasoning';

function plainChunks(block: ContentBlock): ModelChunk[] {
  if (block.type === 'text') return [{ type: 'text', text: block.text }];
  if (block.type !== 'reasoning') return [];
  const { text } = block;
  return [...(text === '' ? [] : [{ type: 'reasoning', text } as const]), { type: 'reasoning_end' }];
}

/** A message of the model as the dialect of the run writes it. */
function writeMessage({ settings: { processor }, tools }: AgentRun, message: Message): string {
  const messages = dialectNamed(processor.dialect).encode([message], tools.offered, {
    ...processor,
    xml_adding_strategy: 'user_message',
  });
  const reply = messages.find(({ role }) => role === 'assistant');
  if (reply?.role !== 'assistant') return '';
  return reply.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}
