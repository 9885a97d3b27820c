import { isDeepStrictEqual } from 'node:util';
import type { FinishReason, ModelPrice } from '@rondo/contract';
import type { CallNotes, ModelRequest, ReplyChunk } from '@rondo/domain';
import type { ProviderClient } from './clients/provider-client';
import type { ReplyBody } from './http/reply-body';
import { ProviderError, refusal, toProviderError } from './provider-error';
import type { RequestPace } from './request-pace';
import { SilenceTimer, type Timeouts } from './silence-timer';
import { type SseEvent, SseReader } from './sse';
import { type CallUsage, toUsage } from './token-usage';
import { saysDeclared } from './too-long';
import type { ReplyReader, WireProtocol, WireRequest } from './wire-protocol';

export type AttemptEnding = { readonly usage?: CallUsage; readonly notes?: CallNotes } & (
  | { readonly how: 'finished'; readonly finishReason: Extract<FinishReason, 'stop' | 'length' | 'tool_calls'> }
  | { readonly how: 'aborted' }
  | { readonly how: 'error'; readonly error: ProviderError }
);

export interface AttemptParts {
  readonly wire: WireProtocol;
  readonly client: ProviderClient;
  readonly timeouts: Timeouts;
  readonly price: ModelPrice | undefined;
  readonly pace?: RequestPace | undefined;
  /** The provider's words for "too long" that are declared. */
  readonly tooLong?: readonly string[] | undefined;
}

/** The data of an event that some servers send to keep the connection open. */
const keepAlive = 'null';

/** Characters that are not consumed yet; above this, reading from the network pauses. */
const maxBufferedLength = 256 * 1024;

/** The longest body of a reply that is not streamed, in bytes. */
const maxWholeBytes = 32 * 1024 * 1024;

const maxLessons = 4;

/** One attempt at a reply: decoded as it arrives, buffered until it is consumed. */
export class ReplyAttempt {
  /** Chunks from before it may still be buffered. */
  private ending: AttemptEnding | undefined;
  private reader: ReplyReader;
  private readonly events = new SseReader();
  private readonly silence: SilenceTimer;
  private whole: WholeBody | undefined;
  private hasEvents = false;
  /** What came before the first event: of a page, or of an error that is no stream, there is nothing else. */
  private readonly opening = new Opening();
  /** Ends the call while there is no reply yet. */
  private readonly sending = new AbortController();
  private reply: ReplyBody | undefined;
  private sent: WireRequest | undefined;
  private notes: CallNotes | undefined;
  private buffered: ReplyChunk[] = [];
  private wake = () => {};
  private outputLength = 0;
  private consumedLength = 0;

  constructor(
    private readonly parts: AttemptParts,
    private readonly request: ModelRequest,
    private readonly signal: AbortSignal,
  ) {
    this.reader = parts.wire.reader(request);
    this.silence = new SilenceTimer(parts.timeouts, () => this.end(this.afterFault(toTimeout())));
    if (signal.aborted) this.end({ how: 'aborted' });
    else void this.send();
  }

  /**
   * Resolves with the chunks since the last call; with none only when the reply has ended. `ending` says how it ended, once no
   * chunk follows: a reply may end between the call and its caller's next step, and its last chunks are still to be taken.
   */
  async nextChunks(): Promise<{ chunks: readonly ReplyChunk[]; ending: AttemptEnding | undefined }> {
    if (this.buffered.length === 0 && !this.ending) {
      this.silence.resume();
      await new Promise<void>((resolve) => (this.wake = resolve));
      this.silence.pause();
    }
    const { buffered, ending } = this;
    this.buffered = [];
    if (this.isAhead) this.reply?.resume();
    this.consumedLength = this.outputLength;
    return { chunks: joinTextChunks(buffered), ending };
  }

  /** Ends the attempt. However it ended, its HTTP stream is closed or read to its end. */
  close(): void {
    this.end({ how: 'aborted' });
    if (this.reader.complete) this.reply?.release();
  }

  private get isAhead(): boolean {
    return this.outputLength - this.consumedLength > maxBufferedLength;
  }

  private async send(): Promise<void> {
    this.signal.addEventListener('abort', this.abort, { once: true });
    try {
      const reply = await this.ask();
      this.reply = reply;
      this.parts.pace?.heard(reply.headers);
      if (this.ending) {
        reply.close();
        return;
      }
      reply.read({ onData: (bytes) => this.decode(bytes), onEnd: (error) => this.endBody(error) });
    } catch (error) {
      this.end(this.afterFault(error));
    }
  }

  /** Asks once more for each thing that the provider's refusal teaches, and a few times at most. */
  private async ask(): Promise<ReplyBody> {
    const { wire, client } = this.parts;
    for (let lessons = 0; ; lessons++) {
      const request = wire.request(this.request);
      if (lessons > 0) this.reader = wire.reader(this.request); // a refusal may be about the API itself
      this.sent = request;
      this.notes = request.notes;
      this.silence.beginsLate = !request.params.stream || request.thinksLong === true;
      try {
        return await client.send(request, this.sending.signal);
      } catch (error) {
        if (lessons === maxLessons || !this.learn(toProviderError(error))) throw error;
      }
    }
  }

  /** Whether the next request differs from this one: by what the refusal teaches, or by what another one has taught meanwhile. */
  private learn(error: ProviderError): boolean {
    const { wire } = this.parts;
    if (error.isSlip) return false;
    if (wire.learn?.(this.request, error)) return true;
    return !error.transient && !isDeepStrictEqual(this.sent?.params, wire.request(this.request).params);
  }

  private decode(bytes: Uint8Array): void {
    if (this.ending) return;
    const before = this.buffered.length;
    const fault = this.readEvents(bytes);
    this.countOutput(before);
    if (this.whole || this.buffered.length > before) this.silence.noteActivity();
    else if (this.reader.isUnseen) this.silence.noteLife();
    if (fault) this.end(this.afterFault(fault));
    else if (this.reader.complete) this.end(this.afterBody());
    else if (this.buffered.length > before) this.wake();
    if (this.isAhead) this.reply?.pause();
  }

  private endBody(error: Error | undefined): void {
    if (this.ending) return;
    const fault = this.readRest(error) ?? error;
    this.end(fault ? this.afterFault(fault) : this.afterBody());
  }

  /** What only the end of the body shows: a whole reply, an event without an end, or that there was none. */
  private readRest(error: Error | undefined): ProviderError | undefined {
    const before = this.buffered.length;
    const fault = toFault(() => {
      if (!this.whole) this.readAll(this.events.end());
      else if (!error) this.reader.readWhole(this.whole.text, this.buffered);
    });
    this.countOutput(before);
    if (fault || error || this.hasEvents || this.reader.ending || this.buffered.length > before) return fault;
    return this.whole ? noReply('reply', this.whole.text) : noReply('stream', this.opening.text);
  }

  private countOutput(before: number): void {
    for (let index = before; index < this.buffered.length; index++) {
      const chunk = this.buffered[index];
      if (chunk && 'text' in chunk) this.outputLength += chunk.text.length;
    }
  }

  /** Keeps the chunks of events before a fault in the same bytes. */
  private readEvents(bytes: Uint8Array): ProviderError | undefined {
    return toFault(() => {
      if (!this.hasEvents && this.opening.beginsWithJson(bytes)) this.whole ??= new WholeBody();
      if (this.whole) this.whole.add(bytes);
      else this.readAll(this.events.push(bytes));
      if (!this.hasEvents) this.opening.add(bytes);
    });
  }

  private readAll(events: readonly SseEvent[]): void {
    for (const { data, name } of events) {
      this.hasEvents = true;
      if (data !== keepAlive) this.reader.read(data, this.buffered, name);
    }
  }

  /** Discards what is buffered: after an abort, no chunk but the end follows. */
  private readonly abort = (): void => {
    if (this.ending) return;
    this.buffered = [];
    this.end({ how: 'aborted', usage: this.usage() });
  };

  private end(ending: AttemptEnding): void {
    if (this.ending) return;
    const word = this.reader.ending?.word;
    this.ending = { ...ending, notes: { ...this.notes, ...(word !== undefined && { finishReason: word }) } };
    this.silence.stop();
    this.signal.removeEventListener('abort', this.abort);
    if (!this.reply) this.sending.abort();
    else if (!this.reader.complete) this.reply.close();
    this.wake();
  }

  /** A reply with a finish reason is complete, even if its stream fails afterwards. */
  private afterFault(error: unknown): AttemptEnding {
    return this.toCompletion() ?? this.toFailure(toProviderError(error));
  }

  private afterBody(): AttemptEnding {
    const { ending } = this.reader;
    return this.toCompletion() ?? this.toFailure(ending && 'error' in ending ? ending.error : toMissingReason());
  }

  private toCompletion(): AttemptEnding | undefined {
    const { ending } = this.reader;
    if (!ending || 'error' in ending) return undefined;
    return { how: 'finished', finishReason: ending.finishReason, usage: this.usage() };
  }

  private toFailure(fault: ProviderError): AttemptEnding {
    const isTooLong = saysDeclared(fault.message, this.parts.tooLong);
    const error = isTooLong ? new ProviderError('context_window_exceeded', fault.message) : this.afterLesson(fault);
    const isBilled = this.outputLength > 0 || this.reader.usage.input !== undefined;
    return { how: 'error', error, ...(isBilled && { usage: this.usage() }) };
  }

  /** A refusal within a stream may teach something, too: the next request then differs from this one. */
  private afterLesson(fault: ProviderError): ProviderError {
    if (this.outputLength > 0 || !this.reply || !this.learn(fault)) return fault;
    return new ProviderError(fault.code, fault.message, { transient: true, retryAfterMs: 0 });
  }

  private usage(): CallUsage {
    const { request, outputLength, reader, parts } = this;
    return toUsage({ request, outputLength, reported: reader.usage, price: parts.price });
  }
}

function toFault(read: () => void): ProviderError | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    return error instanceof ProviderError ? error : unreadable();
  }
}

/** The first characters of a body that has no event. */
class Opening {
  text = '';

  /** A server that cannot stream, or that ignores the wish, answers with JSON, whatever type it says that its answer has. */
  beginsWithJson(bytes: Uint8Array): boolean {
    return this.text.trim() === '' && /^\uFEFF?\s*[{[]/.test(Buffer.from(bytes.subarray(0, 64)).toString('utf8'));
  }

  add(bytes: Uint8Array): void {
    if (this.text.length < longestOpening) this.text += Buffer.from(bytes).toString('utf8').slice(0, longestOpening);
  }
}

const longestOpening = 4_096;

/** What a body says that is none of what was asked for. It may be the page of a proxy, so that another attempt may help. */
function noReply(wanted: 'stream' | 'reply', text: string): ProviderError | undefined {
  const withoutComments = text.replace(/^:.*$/gm, '').trim();
  if (withoutComments === '') return undefined;
  const { code, message, retryAfterMs, transient } = refusal({ detail: withoutComments });
  return new ProviderError(code, `The provider answered with no ${wanted}: ${message}`, { retryAfterMs, transient });
}

const toTimeout = () => new ProviderError('timeout', 'The provider sent no output in time.');
const toMissingReason = () => new ProviderError('connection_error', 'The reply ended without a finish reason.');
const unreadable = () => new ProviderError('api_error', 'The provider sent a stream that cannot be read.');

/** Joins consecutive texts of the same kind, so that what arrived together is passed on as one chunk. */
function joinTextChunks(chunks: readonly ReplyChunk[]): readonly ReplyChunk[] {
  if (chunks.length < 2) return chunks;
  const joined: ReplyChunk[] = [];
  for (const chunk of chunks) {
    const more = continueChunk(joined.at(-1), chunk);
    if (more) joined[joined.length - 1] = more;
    else joined.push(chunk);
  }
  return joined;
}

function continueChunk(last: ReplyChunk | undefined, next: ReplyChunk): ReplyChunk | undefined {
  switch (next.type) {
    case 'text':
    case 'reasoning':
      return last?.type === next.type ? { type: next.type, text: last.text + next.text } : undefined;
    case 'call_arguments':
      return last?.type === next.type && last.index === next.index
        ? { type: next.type, index: next.index, text: last.text + next.text }
        : undefined;
    case 'call_start':
    case 'call_end':
    case 'reasoning_end':
      return undefined;
  }
}

/** Collects the body of a reply that is not streamed. */
class WholeBody {
  private readonly parts: Uint8Array[] = [];
  private length = 0;

  add(bytes: Uint8Array): void {
    this.length += bytes.length;
    if (this.length > maxWholeBytes) throw new ProviderError('api_error', 'The provider sent too long a reply.');
    this.parts.push(bytes);
  }

  get text(): string {
    return Buffer.concat(this.parts).toString('utf8');
  }
}
