import type { ReplyChunk } from '@rondo/domain';
import { endingBy } from '../finish-reason';
import { ProviderError, refusal } from '../provider-error';
import { type ReplyEnding, type ReplyReader, type ReportedUsage, parseEvent } from '../wire-protocol';
import {
  type AnthropicBlock,
  type AnthropicDelta,
  type AnthropicEvent,
  type AnthropicUsage,
  anthropicEvent,
  anthropicMessage,
} from './anthropic-event';
import { bindThinking, toUnsignedThinking } from './given-thinking';

/** A limit, because a signature is collected until it is complete and does not count as output before. */
const longestSignature = 1_000_000;

interface OpenCall {
  readonly type: 'call';
  readonly index: number;
  /** Came with the start. It counts if no piece follows. */
  input: string;
}

type OpenBlock = OpenCall | { readonly type: 'thought'; signature: string } | { readonly type: 'text' | 'other' };

interface Thinker {
  /** The model that writes the reply. */
  readonly maker: string;
  /** Thinking goes back to it without a signature, too. */
  readonly takesUnsigned?: boolean;
}

/** Reads a streamed Message. Its blocks may overlap: each piece names its block. */
export class AnthropicReply implements ReplyReader {
  ending: ReplyEnding | undefined;
  complete = false;
  usage: ReportedUsage = {};
  private calls = 0;
  private hasText = false;
  private readonly blocks = new Map<number, OpenBlock>();
  private latest = 0;
  /** Pieces of arguments without a call. */
  private stray = '';

  constructor(private readonly thinker: Thinker) {}

  /** Arguments come value by value, and a thought when it is summarized. */
  get isUnseen(): boolean {
    return [...this.blocks.values()].some(({ type }) => type !== 'text');
  }

  read(data: string, chunks: ReplyChunk[], name?: string): void {
    if (data.trim() !== '[DONE]') this.readEvent(parseEvent(anthropicEvent, data, name), chunks);
  }

  readWhole(body: string, chunks: ReplyChunk[]): void {
    const { content, usage, ...delta } = parseEvent(anthropicMessage, body);
    for (const [index, block] of (content ?? []).entries()) {
      this.begin(index, block, chunks);
      this.close(index, chunks);
    }
    this.readEvent({ type: 'message_delta', delta, usage }, chunks);
    this.readEvent({ type: 'message_stop' }, chunks);
  }

  private readEvent({ type, index, content_block, delta, ...event }: AnthropicEvent, chunks: ReplyChunk[]): void {
    switch (type ?? '') {
      case 'message_start':
        this.usage = { ...this.usage, ...prompt(event.message?.usage, this.usage) }; // its output is only begun
        break;
      case 'content_block_start':
        this.latest = index ?? this.latest + 1;
        if (content_block) this.begin(this.latest, content_block, chunks);
        break;
      case 'content_block_delta':
        if (delta) this.extend(index ?? this.latest, delta, chunks);
        break;
      case 'content_block_stop':
        this.close(index ?? this.latest, chunks);
        break;
      case 'message_delta':
        this.usage = { ...this.usage, ...prompt(event.usage, this.usage), ...output(event.usage) };
        if (delta?.stop_reason) {
          this.closeAll(chunks);
          this.ending = endingBy(delta.stop_reason, this.calls > 0, delta.stop_details?.explanation);
        }
        break;
      case 'message_stop':
        this.complete = true;
        this.closeAll(chunks);
        if (this.hasText || this.calls > 0) this.ending ??= { finishReason: this.calls > 0 ? 'tool_calls' : 'stop' };
        break;
      case 'error':
        throw refusal({ detail: event.error });
      default:
        if (event.error) throw refusal({ detail: event.error });
    }
  }

  private begin(index: number, block: AnthropicBlock, chunks: ReplyChunk[]): void {
    this.close(index, chunks);
    switch (block.type) {
      case 'text':
        this.closeThoughts(chunks);
        this.blocks.set(index, { type: 'text' });
        this.say(block.text, chunks);
        break;
      case 'thinking':
        this.closeThoughts(chunks);
        this.blocks.set(index, { type: 'thought', signature: block.signature ?? '' });
        if (block.thinking) chunks.push({ type: 'reasoning', text: block.thinking });
        break;
      case 'redacted_thinking':
        this.closeThoughts(chunks);
        if (block.data)
          chunks.push({ type: 'reasoning_end', opaque: bindThinking(this.thinker.maker, { data: block.data }) });
        this.blocks.set(index, { type: 'other' });
        break;
      case 'tool_use': {
        const call = { type: 'call', index: this.calls++, input: readInput(block.input) } as const;
        this.blocks.set(index, call);
        chunks.push({ type: 'call_start', index: call.index, name: block.name ?? 'unnamed' });
        break;
      }
      default:
        this.blocks.set(index, { type: 'other' });
    }
  }

  /** Blocks of unknown types take their own pieces with them. */
  private extend(index: number, delta: AnthropicDelta, chunks: ReplyChunk[]): void {
    const block = this.blocks.get(index);
    if (delta.partial_json) this.extendCall(block, delta.partial_json, chunks);
    if (block?.type === 'other' || block?.type === 'call') return;
    this.say(delta.text, chunks);
    if (delta.thinking) chunks.push({ type: 'reasoning', text: delta.thinking });
    if (delta.signature && block?.type === 'thought') this.sign(block, delta.signature);
  }

  private say(text: string | null | undefined, chunks: ReplyChunk[]): void {
    if (!text) return;
    this.hasText = true;
    chunks.push({ type: 'text', text });
  }

  private extendCall(block: OpenBlock | undefined, text: string, chunks: ReplyChunk[]): void {
    if (block?.type === 'other') return;
    if (block?.type !== 'call') {
      this.stray += text;
      return;
    }
    block.input = '';
    chunks.push({ type: 'call_arguments', index: block.index, text });
  }

  private sign(thought: { signature: string }, piece: string): void {
    thought.signature += piece;
    if (thought.signature.length > longestSignature)
      throw new ProviderError('api_error', 'The provider sent a signature without an end.');
  }

  private close(index: number, chunks: ReplyChunk[]): void {
    const block = this.blocks.get(index);
    this.blocks.delete(index);
    if (block?.type === 'thought') chunks.push({ type: 'reasoning_end', ...this.toOpaque(block) });
    if (block?.type === 'call' && block.input !== '')
      chunks.push({ type: 'call_arguments', index: block.index, text: block.input });
  }

  private toOpaque({ signature }: { readonly signature: string }) {
    const { maker, takesUnsigned } = this.thinker;
    if (signature !== '') return { opaque: bindThinking(maker, { signature }) };
    return takesUnsigned ? { opaque: toUnsignedThinking(maker) } : {};
  }

  /** A thought ends where another block with a text begins, even if its end is not said. */
  private closeThoughts(chunks: ReplyChunk[]): void {
    for (const [index, { type }] of this.blocks) if (type === 'thought') this.close(index, chunks);
  }

  private closeAll(chunks: ReplyChunk[]): void {
    for (const index of [...this.blocks.keys()]) this.close(index, chunks);
    if (this.stray === '') return;
    const index = this.calls++;
    chunks.push(
      { type: 'call_start', index, name: 'unnamed' },
      { type: 'call_end', index, problem: 'There are arguments that belong to no call.' },
      { type: 'call_arguments', index, text: this.stray },
    );
    this.stray = '';
  }
}

/** A compatible server may send the whole input at the start of a call, where Anthropic sends an empty object. */
function readInput(input: unknown): string {
  if (typeof input === 'string') return input;
  return typeof input === 'object' && input !== null && Object.keys(input).length > 0 ? JSON.stringify(input) : '';
}

/**
 * Anthropic reports cached tokens separately from the rest of the prompt. What the end of a message does not repeat holds on: at
 * Anthropic it is how much is kept for an hour; imitations have only zeros at one of the ends.
 */
function prompt(usage: AnthropicUsage | null | undefined, before: ReportedUsage): ReportedUsage {
  const { input_tokens: fresh, cache_read_input_tokens: read, cache_creation_input_tokens: written } = usage ?? {};
  if (typeof fresh !== 'number') return {};
  if (fresh + (read ?? 0) + (written ?? 0) === 0 && before.input !== undefined) return {};
  const cacheRead = read ?? before.cacheRead ?? 0;
  const cacheWrite = written ?? before.cacheWrite ?? 0;
  const cacheWriteHour = usage?.cache_creation?.ephemeral_1h_input_tokens ?? before.cacheWriteHour ?? 0;
  return { input: fresh + cacheRead + cacheWrite, cacheRead, cacheWrite, cacheWriteHour };
}

const output = (usage: AnthropicUsage | null | undefined): ReportedUsage =>
  typeof usage?.output_tokens === 'number' ? { output: usage.output_tokens } : {};
