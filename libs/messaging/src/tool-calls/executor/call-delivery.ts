import type { Msg } from 'nats';

const acknowledgements = {
  done: Buffer.from('+ACK'),
  inProgress: Buffer.from('+WPI'),
  never: Buffer.from('+TERM'),
};

/** `$JS.ACK.stream.consumer.times.…`; a longer one has the domain and the account before the stream. */
const shortReplyTokens = 9;

/** One delivery of a call by the queue, and its acknowledgements. NATS does not confirm an acknowledgement. */
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

  /** 1 for the first delivery. */
  get deliveryCount(): number {
    return this.readToken(4) || 1;
  }

  /** When the queue stored the call, by the clock of NATS. */
  get storedAtMs(): number {
    return this.readToken(7) / 1_000_000;
  }

  private readToken(position: number): number {
    const tokens = this.message.reply?.split('.') ?? [];
    return Number(tokens[tokens.length > shortReplyTokens ? position + 2 : position]) || 0;
  }

  string(): string {
    return this.message.string();
  }

  /** The call is answered, and leaves the queue. */
  acknowledge(): void {
    this.message.respond(acknowledgements.done);
  }

  /** The call is running, and is not to be delivered again yet. */
  acknowledgeInProgress(): void {
    this.message.respond(acknowledgements.inProgress);
  }

  redeliverIn(delayMs: number): void {
    this.message.respond(Buffer.from(`-NAK {"delay": ${delayMs * 1_000_000}}`));
  }

  neverRedeliver(): void {
    this.message.respond(acknowledgements.never);
  }
}
