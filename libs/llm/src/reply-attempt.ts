import type { FinishReason } from '@rondo/contract';
import type { ModelPrice, ModelRequest, ReplyChunk } from '@rondo/domain';
import { requireCompleteReply } from './good-reply';
import type { HttpCall } from './http/http-call';
import type { HttpEndpoint } from './http/http-endpoint';
import type { HttpReply } from './http/http-reply';
import { joinTextChunks } from './joined';
import { ProviderError, connectionFailure } from './provider-error';
import { SilenceTimer, type Timeouts } from './silence-timer';
import { SseReader } from './sse';
import { type CallUsage, usageOf } from './token-usage';
import type { ReplyReader, WireProtocol } from './wire-protocol';

export type AttemptEnding = { readonly usage?: CallUsage } & (
  | { readonly how: 'finished'; readonly finishReason: Extract<FinishReason, 'stop' | 'length' | 'tool_calls'> }
  | { readonly how: 'aborted' }
  | { readonly how: 'error'; readonly error: ProviderError }
);

export interface AttemptSetting {
  readonly wire: WireProtocol;
  readonly endpoint: HttpEndpoint;
  readonly timeouts: Timeouts;
  readonly price: ModelPrice | undefined;
}

/** The network is held up while more than this was said that nobody has asked for. */
const mostUnheard = 256 * 1024;

/** One try at a reply: understood as the network brings it, kept until it is asked for. */
export class ReplyAttempt {
  /** How it ended. What was said before is still to be asked for. */
  ending: AttemptEnding | undefined;
  private readonly reader: ReplyReader;
  private readonly events = new SseReader();
  private readonly silence: SilenceTimer;
  private call: HttpCall | undefined;
  private reply: HttpReply | undefined;
  private said: ReplyChunk[] = [];
  private wake = () => {};
  private outputLength = 0;
  private heardLength = 0;

  constructor(
    private readonly setting: AttemptSetting,
    private readonly request: ModelRequest,
    private readonly signal: AbortSignal,
  ) {
    this.reader = setting.wire.reader();
    this.silence = new SilenceTimer(setting.timeouts, () => this.end(this.afterFault(fellSilent())));
    if (signal.aborted) this.end({ how: 'aborted' });
    else void this.send();
  }

  /** Resolves with what the model has said since, which is nothing only when it is over. */
  async heard(): Promise<readonly ReplyChunk[]> {
    if (this.said.length === 0 && !this.ending) {
      this.silence.listen();
      await new Promise<void>((resolve) => (this.wake = resolve));
      this.silence.rest();
    }
    const said = this.said;
    this.said = [];
    if (this.isAhead) this.reply?.resume();
    this.heardLength = this.outputLength;
    return joinTextChunks(said);
  }

  /** Nobody listens any more. Whichever way it ended, its HTTP stream is closed or used up (W23). */
  close(): void {
    this.end({ how: 'aborted' });
    if (this.reader.complete) this.reply?.release();
  }

  private get isAhead(): boolean {
    return this.outputLength - this.heardLength > mostUnheard;
  }

  private async send(): Promise<void> {
    this.signal.addEventListener('abort', this.abort, { once: true });
    try {
      this.call = this.setting.endpoint.post(this.setting.wire.body(this.request));
      const reply = await this.call.reply;
      await requireCompleteReply(reply);
      this.reply = reply;
      reply.listen({
        piece: (bytes) => this.understand(bytes),
        over: (error) => this.end(error ? this.afterFault(error) : this.afterBody()),
      });
    } catch (error) {
      this.end(this.afterFault(error));
    }
  }

  private understand(bytes: Uint8Array): void {
    if (this.ending) return;
    this.silence.heard();
    const before = this.said.length;
    const fault = this.read(bytes);
    for (let at = before; at < this.said.length; at++) {
      const chunk = this.said[at];
      if (chunk && 'text' in chunk) this.outputLength += chunk.text.length;
    }
    if (fault) this.end(this.afterFault(fault));
    else if (this.reader.complete) this.end(this.afterBody());
    else if (this.said.length > before) this.wake();
    if (this.isAhead) this.reply?.pause();
  }

  /** What was said before a fault in the same piece stands. */
  private read(bytes: Uint8Array): ProviderError | undefined {
    try {
      for (const event of this.events.push(bytes)) this.reader.read(event, this.said);
      return undefined;
    } catch (error) {
      return error instanceof ProviderError ? error : unreadable();
    }
  }

  /** After an abort nothing more is said, also where more was heard. */
  private readonly abort = (): void => {
    if (this.ending) return;
    this.said = [];
    this.end({ how: 'aborted', usage: this.usage() });
  };

  private end(ending: AttemptEnding): void {
    if (this.ending) return;
    this.ending = ending;
    this.silence.stop();
    this.signal.removeEventListener('abort', this.abort);
    if (!this.reader.complete) this.call?.cut();
    this.wake();
  }

  /** A reply whose reason was given is whole, whatever happens to its stream then. */
  private afterFault(error: unknown): AttemptEnding {
    return this.whole() ?? this.failed(error instanceof ProviderError ? error : connectionFailure(error));
  }

  private afterBody(): AttemptEnding {
    const { ending } = this.reader;
    return this.whole() ?? this.failed(ending && 'error' in ending ? ending.error : cutShort());
  }

  private whole(): AttemptEnding | undefined {
    const { ending } = this.reader;
    if (!ending || 'error' in ending) return undefined;
    return { how: 'finished', finishReason: ending.finishReason, usage: this.usage() };
  }

  private failed(error: ProviderError): AttemptEnding {
    const isBilled = this.outputLength > 0 || this.reader.usage.input !== undefined;
    return { how: 'error', error, ...(isBilled && { usage: this.usage() }) };
  }

  private usage(): CallUsage {
    const { request, outputLength, reader, setting } = this;
    return usageOf({ request, outputLength, reported: reader.usage, price: setting.price });
  }
}

const fellSilent = () => new ProviderError('timeout', 'The provider fell silent.');
const cutShort = () => new ProviderError('connection_error', 'The reply ended before the provider gave a reason.');
const unreadable = () => new ProviderError('api_error', 'The provider sent a stream that cannot be read.');
