import type { Msg } from 'nats';

const words = {
  done: Buffer.from('+ACK'),
  inProgress: Buffer.from('+WPI'),
  never: Buffer.from('+TERM'),
};

/** `$JS.ACK.stream.consumer.times.…`; a longer one has the domain and the account before the stream. */
const shortReplyTokens = 9;

/** A call as the queue sent it, and what may be said to that. Nothing that is said is confirmed. */
export class CallDelivery {
  constructor(private readonly message: Msg) {}

  get subject(): string {
    return this.message.subject;
  }

  get headers(): Msg['headers'] {
    return this.message.headers;
  }

  get bytes(): number {
    return this.message.data.length;
  }

  /** 1 when it comes for the first time. */
  get timesSent(): number {
    const tokens = this.message.reply?.split('.') ?? [];
    return Number(tokens[tokens.length > shortReplyTokens ? 6 : 4]) || 1;
  }

  string(): string {
    return this.message.string();
  }

  /** It is answered, and leaves the queue. */
  acknowledge(): void {
    this.message.respond(words.done);
  }

  /** It is being worked on, and need not be sent again yet. */
  showLife(): void {
    this.message.respond(words.inProgress);
  }

  sendAgainIn(delayMs: number): void {
    this.message.respond(Buffer.from(`-NAK {"delay": ${delayMs * 1_000_000}}`));
  }

  neverSendAgain(): void {
    this.message.respond(words.never);
  }
}
