import type { ContentBlock, NewMessage, Usage } from '@rondo/contract';
import { listAdded, toHiddenFields } from '../memoize';
import { documentsIn } from '../files/message-documents';
import { tokensPerPage } from '../models/model';
import type { TokenCounter } from '../ports';
import { toText } from './message-text';

/** Tokens of every message and every call beside its text. */
const perMessage = 6;
const perCall = 12;

const largestCorrection = 2;
/** A report that differs from our count by a larger factor is taken for a mistake. */
const plausibleFactor = 4;

const nothing = { messages: [], tokens: 0 };

/** A request to count: the text that is the same in every iteration of a run, and the messages. */
export interface CountedRequest {
  readonly frame: string;
  readonly messages: readonly NewMessage[];
}

/** The tokens of a message: counted, or an upper bound. */
interface MessageTokens {
  readonly tokens: number;
  readonly isCounted: boolean;
}

/**
 * Counts the tokens of requests for one model. Each message is counted once, so that an iteration costs what it added
 * and not the whole conversation. The usage that the provider reports corrects the counts that follow.
 */
export class ContextMeter {
  private readonly knownTokens = toHiddenFields<NewMessage, MessageTokens>();
  private readonly frames = new Map<string, number>();
  private readonly frameBounds = new Map<string, number>();
  /** The messages of the last bound, because the next request mostly extends them. */
  private bounded: { readonly messages: readonly NewMessage[]; readonly tokens: number } = nothing;
  private correction = 1;
  private lastCount: number | undefined;

  constructor(
    private readonly tokens: TokenCounter,
    private readonly model: string,
    /** The text of a message as it is sent. */
    private readonly writeText: (message: NewMessage) => string = toText,
  ) {}

  /** The tokens of a request that is about to be sent. */
  async countTokens({ frame, messages }: CountedRequest): Promise<number> {
    await this.count(messages);
    this.lastCount = (await this.countFrame(frame)) + this.sum(messages);
    return this.correct(this.lastCount);
  }

  /** An upper bound of a request's tokens, known without counting. */
  upperBound({ frame, messages }: CountedRequest): number {
    const bytes = this.boundFrame(frame) + this.computeBound(messages);
    return this.correct(bytes, Math.max(1, this.correction));
  }

  /** The tokens of each message. */
  async ofMessages(messages: readonly NewMessage[]): Promise<number[]> {
    await this.count(messages);
    return messages.map((message) => this.correct(this.readKnown(message)));
  }

  async ofFrame(frame: string): Promise<number> {
    return this.correct(await this.countFrame(frame));
  }

  /** The request that is sent was not counted, so its reported usage corrects nothing. */
  forgetLast(): void {
    this.lastCount = undefined;
  }

  /** Corrects later counts by the usage that was reported for the request counted last. */
  calibrate(reported: (Usage & { readonly estimated: boolean }) | undefined): void {
    if (!reported || reported.estimated || this.lastCount === undefined || this.lastCount === 0) return;
    const ratio = reported.input_tokens / this.lastCount;
    if (ratio < 1 / plausibleFactor || ratio > plausibleFactor) return;
    this.correction = Math.min(largestCorrection, Math.max(1 / largestCorrection, ratio));
  }

  private async count(messages: readonly NewMessage[]): Promise<void> {
    const unknown = messages.filter((message) => !this.knownTokens.get(message)?.isCounted);
    if (unknown.length === 0) return;
    const texts = await this.tokens.countTexts(
      unknown.map((message) => this.readSentText(message)),
      this.model,
    );
    unknown.forEach((message, index) => {
      const tokens = (texts[index] ?? 0) + this.besideText(message);
      this.knownTokens.set(message, { tokens, isCounted: true });
    });
    this.bounded = nothing;
  }

  private async countFrame(frame: string): Promise<number> {
    const memo = this.frames.get(frame);
    if (memo !== undefined) return memo;
    const [count = 0] = await this.tokens.countTexts([frame], this.model);
    this.frames.set(frame, count);
    return count;
  }

  private sum(messages: readonly NewMessage[]): number {
    return messages.reduce((sum, message) => sum + this.readKnown(message), 0);
  }

  private readKnown(message: NewMessage): number {
    return this.knownTokens.get(message)?.tokens ?? 0;
  }

  private boundFrame(frame: string): number {
    const bound = this.frames.get(frame) ?? this.frameBounds.get(frame) ?? maxTokens(frame);
    this.frameBounds.set(frame, bound);
    return bound;
  }

  private computeBound(messages: readonly NewMessage[]): number {
    const more = listAdded(this.bounded.messages, messages);
    const before = more ? this.bounded.tokens : 0;
    const tokens = (more ?? messages).reduce((sum, message) => sum + this.boundTokens(message), before);
    this.bounded = { messages, tokens };
    return tokens;
  }

  private boundTokens(message: NewMessage): number {
    const memo = this.knownTokens.get(message);
    if (memo) return memo.tokens;
    const tokens = maxTokens(this.readSentText(message)) + this.besideText(message);
    this.knownTokens.set(message, { tokens, isCounted: false });
    return tokens;
  }

  /** Includes the reasoning that is sent: what a provider expects back. */
  private readSentText(message: NewMessage): string {
    const reasoning = message.content.map((block) =>
      block.type === 'reasoning' && (block.opaque ?? block.signature) ? block.text : '',
    );
    return [this.writeText(message), ...reasoning].filter((text) => text !== '').join('\n');
  }

  private besideText(message: NewMessage): number {
    const pages = documentsIn(message).reduce((sum, document) => sum + document.pages, 0);
    return message.content.reduce(
      (sum, block) => sum + this.countBesideText(block),
      perMessage + pages * tokensPerPage,
    );
  }

  private countBesideText(block: ContentBlock): number {
    switch (block.type) {
      case 'image': {
        const { source } = block;
        return this.tokens.imageTokens(source.type === 'blob' ? source : undefined, this.model);
      }
      case 'tool_result': {
        const { image } = block.result;
        return perCall + (image ? this.tokens.imageTokens(image, this.model) : 0);
      }
      case 'tool_call':
        return perCall;
      case 'text':
      case 'reasoning':
        return 0;
    }
  }

  private correct(count: number, correction = this.correction): number {
    return Math.ceil(count * correction);
  }
}

/**
 * An upper bound: no tokenizer makes more tokens of a text than it has UTF-8 bytes. A prompt that fits by this bound
 * needs no counting.
 */
export function maxTokens(text: string): number {
  let bytes = text.length;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code > 0x7f) bytes += code > 0x7ff && (code < 0xd800 || code > 0xdfff) ? 2 : 1;
  }
  return bytes;
}
