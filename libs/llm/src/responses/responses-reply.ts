import type { ReplyChunk } from '@rondo/domain';
import { z } from 'zod';
import { ProviderError, refusal } from '../provider-error';
import { type ReplyEnding, type ReplyReader, type ReportedUsage, parseEvent } from '../wire-protocol';
import { reasoningItem } from './responses-request';

const tokens = z.number().nonnegative().nullish().catch(null);
const text = z.string().nullish();
const at = z.number().int().nonnegative();

const item = z.looseObject({ type: z.string(), name: text, arguments: text });
type Item = z.infer<typeof item>;

const response = z.object({
  error: z.unknown().optional(),
  output: z
    .array(z.looseObject({ type: z.string(), name: text, arguments: text, content: z.unknown().optional() }))
    .nullish(),
  status: text,
  incomplete_details: z.object({ reason: text }).nullish(),
  usage: z
    .object({
      input_tokens: tokens,
      output_tokens: tokens,
      input_tokens_details: z.object({ cached_tokens: tokens }).nullish(),
    })
    .nullish(),
});
type Response = z.infer<typeof response>;

/** The events that are read; the others tell the same in other pieces. */
const event = z.looseObject({
  type: z.string(),
  delta: z.unknown().optional(),
  output_index: at.nullish(),
  item: item.nullish(),
  response: response.nullish(),
});
type Event = z.infer<typeof event>;

interface OpenCall {
  readonly index: number;
  hasArguments: boolean;
}

/** Reads a reply of the Responses API: the events of a stream, or one whole reply. */
export class ResponsesReply implements ReplyReader {
  ending: ReplyEnding | undefined;
  complete = false;
  usage: ReportedUsage = {};
  /** By the place of their item in the output. */
  private readonly calls = new Map<number, OpenCall>();

  /** `maker`: the model as `provider/model`, to which its reasoning may go back. */
  constructor(private readonly maker: string) {}

  read(data: string, chunks: ReplyChunk[]): void {
    if (data !== '[DONE]') this.readEvent(parseEvent(event, data), chunks);
  }

  readWhole(body: string, chunks: ReplyChunk[]): void {
    const whole = parseEvent(response, body);
    for (const [place, one] of (whole.output ?? []).entries()) {
      for (const said of saidIn(one.content)) chunks.push({ type: 'text', text: said });
      this.endItem(place, one, chunks);
    }
    this.end(whole);
  }

  private readEvent({ type, delta, output_index, item: one, response: whole }: Event, chunks: ReplyChunk[]): void {
    const place = output_index ?? 0;
    const said = typeof delta === 'string' ? delta : '';
    switch (type) {
      case 'response.output_text.delta':
      case 'response.refusal.delta':
        if (said) chunks.push({ type: 'text', text: said });
        break;
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        if (said) chunks.push({ type: 'reasoning', text: said });
        break;
      case 'response.output_item.added':
        if (one?.type === 'function_call') this.startCall(place, one, chunks);
        break;
      case 'response.function_call_arguments.delta':
        this.addArguments(this.calls.get(place), said, chunks);
        break;
      case 'response.output_item.done':
        if (one) this.endItem(place, one, chunks);
        break;
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
        this.end(whole ?? { status: type.slice('response.'.length) });
    }
  }

  private startCall(place: number, { name }: Item, chunks: ReplyChunk[]): OpenCall {
    if (!name) throw new ProviderError('api_error', 'The provider sent a tool call without a name.');
    const call = { index: this.calls.size, hasArguments: false };
    this.calls.set(place, call);
    chunks.push({ type: 'call_start', index: call.index, name });
    return call;
  }

  private addArguments(call: OpenCall | undefined, written: string, chunks: ReplyChunk[]): void {
    if (!call) throw new ProviderError('api_error', 'The provider sent arguments of an unknown tool call.');
    if (written === '') return;
    call.hasArguments = true;
    chunks.push({ type: 'call_arguments', index: call.index, text: written });
  }

  /** A server may send an item only whole. */
  private endItem(place: number, one: Item, chunks: ReplyChunk[]): void {
    if (one.type === 'function_call') {
      const call = this.calls.get(place) ?? this.startCall(place, one, chunks);
      if (!call.hasArguments) this.addArguments(call, one.arguments ?? '', chunks);
    }
    if (one.type !== 'reasoning') return;
    const kept = reasoningItem.safeParse(one).data;
    chunks.push({ type: 'reasoning_end', ...(kept && { opaque: { maker: this.maker, data: kept } }) });
  }

  private end({ status, incomplete_details, error, usage }: Response): void {
    if (usage) {
      this.usage = {
        input: usage.input_tokens ?? undefined,
        output: usage.output_tokens ?? undefined,
        cacheRead: usage.input_tokens_details?.cached_tokens ?? 0,
      };
    }
    this.complete = true;
    this.ending = this.endingBy(status ?? '', incomplete_details?.reason ?? '', error);
  }

  private endingBy(status: string, reason: string, error: unknown): ReplyEnding {
    if (status === 'completed') return { finishReason: this.calls.size > 0 ? 'tool_calls' : 'stop' };
    if (status === 'incomplete' && reason === 'max_output_tokens') return { finishReason: 'length' };
    if (reason === 'content_filter')
      return { error: new ProviderError('content_policy_violation', 'The provider filtered the reply.') };
    if (error) return { error: refusal({ detail: error }) };
    const why = [status, reason].filter((word) => word !== '').join(', ') || 'nothing';
    return { error: new ProviderError('api_error', `The provider ended the reply with: ${why}.`) };
  }
}

const saidIn = (content: unknown): string[] => {
  const parts = z.array(z.looseObject({ text: text, refusal: text })).safeParse(content);
  return (parts.data ?? []).flatMap(({ text: said, refusal: refused }) => [said ?? refused ?? '']).filter(Boolean);
};
