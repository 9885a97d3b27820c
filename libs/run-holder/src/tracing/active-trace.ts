import type { CallId, FactWithType, Message, RecordedFact } from '@rondo/contract';
import type { ClaimedRun } from '@rondo/domain';
import type { SpanAttributes, Tracing } from '@rondo/platform';
import { aboutModel, aboutRun, agentSpanId, callSpanId } from './agent-span';

interface SentCall {
  readonly attempt: number;
  readonly startedAt: number;
}

type CallEnd = FactWithType<'tool.completed' | 'tool.failed' | 'tool.unknown'>;

/** The spans of model and tool calls of one claimed run. Each is written when a committed fact says how the call ended. */
export class ActiveTrace {
  private readonly sent = new Map<CallId, SentCall>();
  private readonly inputs = new Map<CallId, string>();
  /** What the model has not been asked with yet, and what it has said since; kept only where spans show content. */
  private heard: Message[] = [];
  private said: Message[] = [];

  constructor(
    private readonly tracing: Tracing,
    private readonly claim: Pick<ClaimedRun, 'run' | 'log'>,
    readonly traceId: string,
  ) {
    for (const fact of claim.log) this.remember(fact);
  }

  note(fact: RecordedFact): void {
    if (fact.type === 'usage.recorded') this.recordChat(fact);
    if (isCallEnd(fact)) this.recordCall(fact);
    this.remember(fact);
  }

  private remember(fact: RecordedFact): void {
    if (fact.type === 'tool.started')
      this.sent.set(fact.data.tool_call_id, { attempt: fact.data.attempt, startedAt: Date.parse(fact.at) });
    else if (isCallEnd(fact)) this.sent.delete(fact.data.tool_call_id);
    if (this.tracing.showsContent) this.rememberContent(fact);
  }

  private rememberContent(fact: RecordedFact): void {
    if (fact.type === 'tool.planned')
      this.inputs.set(fact.data.tool_call.id, JSON.stringify(fact.data.tool_call.arguments));
    if (fact.type === 'usage.recorded') {
      this.heard = [];
      this.said = [];
    }
    if (fact.type !== 'message.created' || !fact.data.message.is_llm_message) return;
    if (fact.data.message.type === 'assistant') this.said.push(fact.data.message);
    else this.heard.push(fact.data.message);
  }

  private recordChat({ at, iteration, data }: FactWithType<'usage.recorded'>): void {
    const { run } = this.claim;
    const { temperature, top_p, max_tokens } = run.settings.llm;
    const endedAt = Date.parse(at);
    const model = aboutModel(data.model);
    const span = this.tracing.begin({
      name: `chat ${String(model['gen_ai.request.model'])}`,
      kind: 'client',
      parent: this.parent,
      startedAt: endedAt - data.duration_ms,
      attributes: {
        'gen_ai.operation.name': 'chat',
        ...model,
        ...aboutRun(run),
        'gen_ai.request.temperature': temperature,
        'gen_ai.request.top_p': top_p,
        'gen_ai.request.max_tokens': max_tokens,
        'rondo.run.iteration': iteration,
      },
    });
    span?.end({
      at: endedAt,
      attributes: { ...toUsage(data), ...this.contentOfChat() },
      ...(didFail(data.finish_reason) && { error: data.finish_reason }),
    });
  }

  private recordCall({ type, at, iteration, data }: CallEnd): void {
    const { run } = this.claim;
    const { tool_call_id: id, name } = data;
    const sent = this.sent.get(id);
    if (!sent) return; // it never ran, or its last attempt was recorded when its outcome became unknown
    const span = this.tracing.begin({
      name: `execute_tool ${name}`,
      kind: 'internal',
      spanId: callSpanId(id, sent.attempt),
      parent: this.parent,
      startedAt: sent.startedAt,
      attributes: {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': name,
        'gen_ai.tool.call.id': id,
        'gen_ai.tool.type': 'function',
        ...aboutRun(run),
        'rondo.run.iteration': iteration,
        'rondo.tool.attempt': sent.attempt,
      },
    });
    span?.end({
      at: Date.parse(at),
      attributes: this.contentOfCall(id, 'result' in data ? data.result : undefined),
      ...(type !== 'tool.completed' && { error: type === 'tool.failed' ? 'tool_failed' : 'outcome_unknown' }),
    });
  }

  private get parent() {
    return { traceId: this.traceId, spanId: agentSpanId(this.claim.run.id) };
  }

  private contentOfChat(): SpanAttributes {
    if (!this.tracing.showsContent) return {};
    return {
      'gen_ai.input.messages': this.heard.length > 0 ? messagesAsJson(this.heard) : undefined,
      'gen_ai.output.messages': this.said.length > 0 ? messagesAsJson(this.said) : undefined,
    };
  }

  private contentOfCall(id: CallId, result: object | undefined): SpanAttributes {
    if (!this.tracing.showsContent) return {};
    const input = this.inputs.get(id);
    this.inputs.delete(id);
    return { 'gen_ai.tool.call.arguments': input, 'gen_ai.tool.call.result': result && JSON.stringify(result) };
  }
}

const isCallEnd = (fact: RecordedFact): fact is CallEnd =>
  fact.type === 'tool.completed' || fact.type === 'tool.failed' || fact.type === 'tool.unknown';

/** A model or tool call ended. */
export const endsSpan = (fact: RecordedFact): boolean => fact.type === 'usage.recorded' || isCallEnd(fact);

const didFail = (finishReason: string): boolean => finishReason === 'failed' || finishReason === 'broken';

const toUsage = (data: FactWithType<'usage.recorded'>['data']): SpanAttributes => ({
  'gen_ai.response.finish_reasons': [data.finish_reason],
  'gen_ai.usage.input_tokens': data.input_tokens,
  'gen_ai.usage.output_tokens': data.output_tokens,
  'gen_ai.usage.cache_read.input_tokens': data.cached_tokens,
  'gen_ai.response.time_to_first_chunk': data.first_token_ms === null ? undefined : data.first_token_ms / 1_000,
  'rondo.model_call.id': data.model_call_id,
  'rondo.usage.cost_usd': data.cost_usd ?? undefined,
  'rondo.usage.estimated': data.estimated,
});

const roles: Partial<Record<Message['type'], string>> = { assistant: 'assistant', tool: 'tool', status: 'system' };

/** Messages in the JSON of the GenAI conventions. Of images only their kind is said. */
const messagesAsJson = (messages: readonly Pick<Message, 'type' | 'content'>[]): string =>
  JSON.stringify(messages.map(({ type, content }) => ({ role: roles[type] ?? 'user', parts: content.map(toPart) })));

function toPart(block: Message['content'][number]): object {
  switch (block.type) {
    case 'text':
      return { type: 'text', content: block.text };
    case 'tool_call':
      return { type: 'tool_call', id: block.tool_call_id, name: block.name, arguments: block.arguments };
    case 'tool_result':
      return { type: 'tool_call_response', id: block.tool_call_id, response: block.result };
    case 'reasoning':
      return { type: 'reasoning', content: block.text };
    case 'image':
      return { type: 'image' };
  }
}
