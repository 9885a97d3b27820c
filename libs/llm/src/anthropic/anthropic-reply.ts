import type { ReplyChunk } from '@rondo/domain';
import { ProviderError, refusal } from '../provider-error';
import { type ReplyEnding, type ReplyReader, type ReportedUsage, parseEvent } from '../wire-protocol';
import {
  type AnthropicBlock,
  type AnthropicDelta,
  type AnthropicEvent,
  type AnthropicUsage,
  anthropicEvent,
} from './anthropic-event';
import { boundThinking } from './given-thinking';

/** A limit, because a signature is collected until it is complete and does not count as output before. */
const longestSignature = 1_000_000;

/** Reads a streamed Message. */
export class AnthropicReply implements ReplyReader {
  ending: ReplyEnding | undefined;
  complete = false;
  usage: ReportedUsage = {};
  private calls = 0;
  /** The thinking block that is being received: blocks never overlap. */
  private thought: { signature: string } | undefined;

  /** `maker`: the model that writes the reply. */
  constructor(private readonly maker: string) {}

  read(event: string, chunks: ReplyChunk[]): void {
    this.readEvent(parseEvent(anthropicEvent, event), chunks);
  }

  private readEvent(event: AnthropicEvent, chunks: ReplyChunk[]): void {
    switch (event.type) {
      case 'message_start':
        this.usage = prompt(event.message.usage);
        break;
      case 'content_block_start':
        this.begin(event.content_block, chunks);
        break;
      case 'content_block_delta':
        this.extend(event.delta, chunks);
        break;
      case 'content_block_stop':
        this.closeThought(chunks);
        break;
      case 'message_delta':
        this.usage = { ...this.usage, ...prompt(event.usage), ...output(event.usage) };
        if (event.delta.stop_reason)
          this.ending = endingBy(event.delta.stop_reason, event.delta.stop_details?.explanation);
        break;
      case 'message_stop':
        this.complete = true;
        break;
      case 'error':
        throw refusal({ detail: event.error });
      case 'ignored':
        break;
    }
  }

  private begin(block: AnthropicBlock, chunks: ReplyChunk[]): void {
    switch (block.type) {
      case 'text':
        if (block.text) chunks.push({ type: 'text', text: block.text });
        break;
      case 'thinking':
        this.thought = { signature: block.signature ?? '' };
        if (block.thinking) chunks.push({ type: 'reasoning', text: block.thinking });
        break;
      case 'redacted_thinking':
        chunks.push({ type: 'reasoning_end', opaque: boundThinking(this.maker, { data: block.data }) });
        break;
      case 'tool_use': {
        const index = this.calls++;
        chunks.push({ type: 'call_start', index, name: block.name });
        if (isFilled(block.input)) chunks.push({ type: 'call_arguments', index, text: JSON.stringify(block.input) });
        break;
      }
      case 'ignored':
        break;
    }
  }

  private extend(delta: AnthropicDelta, chunks: ReplyChunk[]): void {
    switch (delta.type) {
      case 'text_delta':
        if (delta.text) chunks.push({ type: 'text', text: delta.text });
        break;
      case 'thinking_delta':
        if (delta.thinking) chunks.push({ type: 'reasoning', text: delta.thinking });
        break;
      case 'signature_delta':
        this.sign(delta.signature);
        break;
      case 'input_json_delta':
        if (delta.partial_json && this.calls > 0) {
          chunks.push({ type: 'call_arguments', index: this.calls - 1, text: delta.partial_json });
        }
        break;
      case 'ignored':
        break;
    }
  }

  private sign(piece: string): void {
    if (!this.thought) return;
    this.thought.signature += piece;
    if (this.thought.signature.length > longestSignature)
      throw new ProviderError('api_error', 'The provider sent a signature without an end.');
  }

  private closeThought(chunks: ReplyChunk[]): void {
    if (!this.thought) return;
    const { signature } = this.thought;
    this.thought = undefined;
    chunks.push({
      type: 'reasoning_end',
      ...(signature !== '' && { opaque: boundThinking(this.maker, { signature }) }),
    });
  }
}

/** A compatible server may send the whole input at the start of a call, where Anthropic sends an empty object. */
const isFilled = (input: unknown): boolean =>
  typeof input === 'object' && input !== null && Object.keys(input).length > 0;

function endingBy(reason: string, explanation: string | null | undefined): ReplyEnding {
  switch (reason) {
    case 'tool_use':
      return { finishReason: 'tool_calls' };
    case 'max_tokens':
    case 'model_context_window_exceeded':
    case 'pause_turn': // the turn is not over: with another request the model goes on
      return { finishReason: 'length' };
    case 'refusal':
      return { error: new ProviderError('content_policy_violation', explanation ?? 'The model refused to answer.') };
    default: // `end_turn`, `stop_sequence`
      return { finishReason: 'stop' };
  }
}

/** Anthropic reports cached tokens separately from the rest of the prompt. */
function prompt(usage: AnthropicUsage | null | undefined): ReportedUsage {
  if (typeof usage?.input_tokens !== 'number') return {};
  const cacheRead = usage.cache_read_input_tokens ?? 0;
  const cacheWrite = usage.cache_creation_input_tokens ?? 0;
  return { input: usage.input_tokens + cacheRead + cacheWrite, cacheRead, cacheWrite };
}

const output = (usage: AnthropicUsage | null | undefined): ReportedUsage =>
  typeof usage?.output_tokens === 'number' ? { output: usage.output_tokens } : {};
