import type { ReplyChunk } from '@rondo/domain';
import { z } from 'zod';
import { ProviderError, refusal } from '../provider-error';
import { costFields, readCost } from '../token-usage';
import { type ReplyEnding, type ReplyReader, type ReportedUsage, parseEvent } from '../wire-protocol';
import { reasoningItem } from './responses-request';

/** Servers that imitate OpenAI differ in every field: one of an unknown type is as if it were absent. */
const lenient = <Schema extends z.ZodType>(schema: Schema) => schema.nullish().catch(undefined);
const tokens = lenient(z.number().nonnegative());
const text = lenient(z.string());
const place = lenient(z.coerce.number().int().nonnegative());

/** `arguments`: text, or the object itself. */
const item = z.looseObject({
  type: z.string(),
  id: text,
  name: text,
  arguments: z.unknown().optional(),
  content: z.unknown().optional(),
  summary: z.unknown().optional(),
});
type Item = z.infer<typeof item>;

const response = z.object({
  error: z.unknown().optional(),
  output: lenient(z.array(item.catch({ type: 'unknown' }))),
  status: text,
  incomplete_details: lenient(z.object({ reason: text })),
  usage: lenient(
    z.object({
      input_tokens: tokens,
      output_tokens: tokens,
      input_tokens_details: lenient(z.object({ cached_tokens: tokens, cache_write_tokens: tokens })),
      ...costFields,
      output_tokens_details: lenient(z.object({ reasoning_tokens: tokens })),
    }),
  ),
});
type Response = z.infer<typeof response>;

/** The events that are read; the others tell the same in other pieces. */
const event = z.looseObject({
  type: text,
  delta: z.unknown().optional(),
  text,
  output_index: place,
  item_id: text,
  item: lenient(item),
  response: lenient(response),
});
type Event = z.infer<typeof event>;

interface OpenCall {
  readonly index: number;
  hasArguments: boolean;
  /** Its item came whole. */
  isWhole: boolean;
}

/** Reads a reply of the Responses API: the events of a stream, or one whole reply. */
export class ResponsesReply implements ReplyReader {
  ending: ReplyEnding | undefined;
  complete = false;
  usage: ReportedUsage = {};
  /** The open calls by the place of their item in the output, or by its id. */
  private readonly calls = new Map<number | string, OpenCall>();
  private count = 0;
  /** Arguments that came before the item of their call, by its place. */
  private readonly early = new Map<number | string, string>();
  /** Something was said by now of the message that is open. */
  private hasSaid = false;
  /** The same of the reasoning that is open. */
  private hasThought = false;
  /** The places of items that are begun and not whole, apart from messages. */
  private readonly unseen = new Set<number | string>();
  /** An item came before the last event. */
  private hasItems = false;

  /** `maker`: the model as `provider/model`, to which its reasoning may go back. */
  constructor(private readonly maker: string) {}

  get isUnseen(): boolean {
    return this.unseen.size > 0;
  }

  read(data: string, chunks: ReplyChunk[], name?: string): void {
    if (data.trim() !== '[DONE]') this.readEvent(parseEvent(event, data, name), chunks);
  }

  readWhole(body: string, chunks: ReplyChunk[]): void {
    this.readOutput(parseEvent(response, body), chunks);
  }

  /** All at once, unless its items came before. */
  private readOutput(whole: Response, chunks: ReplyChunk[]): void {
    if (!this.hasItems) for (const [at, one] of (whole.output ?? []).entries()) this.endItem(at, one, chunks);
    this.end(whole);
  }

  private readEvent({ type, delta, output_index, item_id, item: one, ...more }: Event, chunks: ReplyChunk[]): void {
    const key = output_index ?? item_id ?? one?.id ?? 0;
    const said = typeof delta === 'string' ? delta : '';
    switch (type ?? '') {
      case 'response.output_text.delta':
      case 'response.refusal.delta':
        this.say(said, chunks);
        break;
      case 'response.output_text.done':
        if (!this.hasSaid) this.say(more.text ?? '', chunks);
        break;
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        this.think(said, chunks);
        break;
      case 'response.output_item.added':
        if (one && one.type !== 'message') this.unseen.add(key);
        if (one?.type === 'function_call' && one.name) this.startCall(key, one, chunks);
        break;
      case 'response.function_call_arguments.delta':
        this.addArguments(key, said, chunks);
        break;
      case 'response.output_item.done':
        if (one) this.endItem(key, one, chunks);
        break;
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
      case 'response.done':
        this.readOutput({ ...more.response, status: more.response?.status ?? statusBy(type) }, chunks);
    }
  }

  private say(said: string, chunks: ReplyChunk[]): void {
    if (said === '') return;
    this.hasSaid = true;
    chunks.push({ type: 'text', text: said });
  }

  private think(thought: string, chunks: ReplyChunk[]): void {
    if (thought === '') return;
    this.hasThought = true;
    chunks.push({ type: 'reasoning', text: thought });
  }

  private startCall(key: number | string, { name }: Item, chunks: ReplyChunk[]): OpenCall {
    const call = { index: this.count++, hasArguments: false, isWhole: false };
    this.calls.set(key, call);
    chunks.push({ type: 'call_start', index: call.index, name: name ?? 'unnamed' });
    this.addArguments(key, this.early.get(key) ?? '', chunks);
    this.early.delete(key);
    return call;
  }

  private addArguments(key: number | string, written: string, chunks: ReplyChunk[]): void {
    const call = this.calls.get(key);
    if (written === '') return;
    if (!call || call.isWhole) {
      const early = (this.early.get(key) ?? '') + written;
      if (early.length > longestEarly)
        throw new ProviderError('api_error', 'The provider sent a call that never begins.');
      this.early.set(key, early);
      return;
    }
    call.hasArguments = true;
    chunks.push({ type: 'call_arguments', index: call.index, text: written });
  }

  /** A server may send an item only whole, and give all items the same place. */
  private endItem(key: number | string, one: Item, chunks: ReplyChunk[]): void {
    this.hasItems = true;
    this.unseen.delete(key);
    switch (one.type) {
      case 'function_call': {
        const open = this.calls.get(key);
        const call = open && !open.isWhole ? open : this.startCall(key, one, chunks);
        if (!call.hasArguments) this.addArguments(key, toText(one.arguments), chunks);
        call.isWhole = true;
        break;
      }
      case 'message':
        if (!this.hasSaid) for (const said of saidIn(one.content)) this.say(said, chunks);
        this.hasSaid = false;
        break;
      case 'reasoning': {
        if (!this.hasThought) this.think(readThought(one), chunks);
        this.hasThought = false;
        const kept = reasoningItem.safeParse(one).data;
        chunks.push({ type: 'reasoning_end', ...(kept && { opaque: { maker: this.maker, data: kept } }) });
      }
    }
  }

  private end({ status, incomplete_details, error, usage }: Response): void {
    if (usage) {
      const costUsd = readCost(usage);
      const { cached_tokens: cacheRead, cache_write_tokens: cacheWrite } = usage.input_tokens_details ?? {};
      const reasoning = usage.output_tokens_details?.reasoning_tokens;
      this.usage = {
        input: usage.input_tokens ?? undefined,
        output: usage.output_tokens ?? undefined,
        cacheRead: cacheRead ?? 0,
        ...(typeof cacheWrite === 'number' && { cacheWrite }),
        ...(typeof reasoning === 'number' && { reasoning }),
        ...(costUsd !== undefined && { costUsd }),
      };
    }
    this.complete = true;
    this.ending = this.endingBy(status ?? '', incomplete_details?.reason ?? '', error);
  }

  private endingBy(status: string, reason: string, error: unknown): ReplyEnding {
    if (status === 'completed') return { finishReason: this.count > 0 ? 'tool_calls' : 'stop' };
    if (status === 'incomplete' && /^max(?:_output)?_tokens$/.test(reason)) return { finishReason: 'length' };
    if (reason === 'content_filter')
      return { error: new ProviderError('content_policy_violation', 'The provider filtered the reply.') };
    if (error) return { error: refusal({ detail: error }) };
    const why = [status, reason].filter((word) => word !== '').join(', ') || 'nothing';
    return { error: new ProviderError('api_error', `The provider ended the reply with: ${why}.`) };
  }
}

/** The limit of text that is held back, which does not count as output before. */
const longestEarly = 1_000_000;

const statusBy = (type: string | null | undefined): string =>
  type === 'response.done' ? 'completed' : (type ?? '').slice('response.'.length);

const toText = (written: unknown): string => {
  if (typeof written === 'string') return written;
  return written === undefined || written === null ? '' : JSON.stringify(written);
};

const saidIn = (content: unknown): string[] => {
  if (typeof content === 'string') return [content];
  const parts = z.array(z.looseObject({ text, refusal: text })).safeParse(content);
  return (parts.data ?? []).flatMap(({ text: said, refusal: refused }) => [said ?? refused ?? '']).filter(Boolean);
};

/** Only some servers have the thought itself. */
function readThought({ summary, content }: Item): string {
  const summaries = saidIn(summary);
  return (summaries.length > 0 ? summaries : saidIn(content)).join('\n\n');
}
