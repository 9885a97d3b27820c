import type { FinishReason, ModelPrice, ModelRequest, ReplyChunk } from '@rondo/domain';
import type { HttpReply } from './http/http-reply';
import type { ProviderDoor } from './provider-door';
import { ProviderError, connectionFailure } from './provider-error';
import { SilenceTimer, type Timeouts } from './silence-timer';
import { SseReader } from './sse';
import { type CallUsage, usageOf } from './token-usage';
import type { WireProtocol } from './wire-protocol';

export type AttemptEnding = { readonly usage?: CallUsage } & (
  | { readonly how: 'finished'; readonly finishReason: Extract<FinishReason, 'stop' | 'length' | 'tool_calls'> }
  | { readonly how: 'aborted' }
  | { readonly how: 'error'; readonly error: ProviderError }
);

export interface AttemptSetting {
  readonly wire: WireProtocol;
  readonly door: ProviderDoor;
  readonly timeouts: Timeouts;
  readonly price: ModelPrice | undefined;
}

/** One try at a reply. Whichever way it ends, its HTTP stream is closed or used up (W23). */
export class ReplyAttempt {
  private readonly controller = new AbortController();
  private readonly reader: ReturnType<WireProtocol['reader']>;
  private readonly events = new SseReader();
  private reply: HttpReply | undefined;
  private sent = false;
  private outputLength = 0;
  private fault: ProviderError | undefined;
  /** How it ended, once `outputs` is over. */
  ending: AttemptEnding = { how: 'aborted' };

  constructor(
    private readonly setting: AttemptSetting,
    private readonly request: ModelRequest,
    private readonly signal: AbortSignal,
  ) {
    this.reader = setting.wire.reader();
  }

  /** What the model says, one batch for each piece that the network brings. */
  async *outputs(): AsyncGenerator<readonly ReplyChunk[], void> {
    if (this.signal.aborted) return;
    const abort = () => this.controller.abort();
    this.signal.addEventListener('abort', abort, { once: true });
    const silence = new SilenceTimer(this.setting.timeouts, abort);
    try {
      await this.send();
      for (;;) {
        const chunks = await this.receive(silence);
        if (!chunks) break;
        if (chunks.length > 0) yield chunks;
        if (this.fault) throw this.fault;
      }
      this.ending = this.concluded();
    } catch (error) {
      this.ending = this.failed(error, silence);
    } finally {
      silence.stop();
      this.signal.removeEventListener('abort', abort);
      if (this.reader.complete) this.reply?.release();
      else this.controller.abort();
    }
  }

  private async send(): Promise<void> {
    this.sent = true;
    this.reply = await this.setting.door.ask(this.setting.wire.body(this.request), this.controller.signal);
  }

  /** The next piece; undefined where there is none. */
  private async receive(silence: SilenceTimer): Promise<ReplyChunk[] | undefined> {
    if (this.reader.complete) return undefined;
    silence.listen();
    const piece = await this.reply?.read();
    if (!piece) return undefined;
    silence.heard();
    return this.understand(piece);
  }

  /** What was said before a fault in the same piece is passed on first. */
  private understand(bytes: Uint8Array): ReplyChunk[] {
    const chunks: ReplyChunk[] = [];
    try {
      for (const event of this.events.push(bytes)) this.reader.read(event, chunks);
    } catch (error) {
      this.fault = error instanceof ProviderError ? error : unreadable();
    }
    for (const chunk of chunks) if ('text' in chunk) this.outputLength += chunk.text.length;
    return chunks;
  }

  private concluded(): AttemptEnding {
    if (this.signal.aborted) return this.aborted();
    const { ending } = this.reader;
    if (!ending) throw new ProviderError('connection_error', 'The reply ended before the provider gave a reason.');
    if ('error' in ending) throw ending.error;
    return { how: 'finished', finishReason: ending.finishReason, usage: this.usage() };
  }

  private failed(error: unknown, silence: SilenceTimer): AttemptEnding {
    if (this.signal.aborted) return this.aborted();
    const { ending, usage } = this.reader;
    if (ending && 'finishReason' in ending) {
      return { how: 'finished', finishReason: ending.finishReason, usage: this.usage() };
    }
    const billed = this.outputLength > 0 || usage.input !== undefined;
    return { how: 'error', error: this.asProviderError(error, silence), ...(billed && { usage: this.usage() }) };
  }

  private aborted(): AttemptEnding {
    return { how: 'aborted', ...(this.sent && { usage: this.usage() }) };
  }

  private asProviderError(error: unknown, silence: SilenceTimer): ProviderError {
    if (silence.expired) return new ProviderError('timeout', 'The provider fell silent.');
    return error instanceof ProviderError ? error : connectionFailure(error);
  }

  private usage(): CallUsage {
    const { request, outputLength, reader, setting } = this;
    return usageOf({ request, outputLength, reported: reader.usage, price: setting.price });
  }
}

const unreadable = () => new ProviderError('api_error', 'The provider sent a stream that cannot be read.');
