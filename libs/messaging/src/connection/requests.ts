import { TransientError } from '@rondo/domain';
import type { Msg, MsgHdrs, NatsConnection } from 'nats';
import type { WriteCoalescer } from './write-coalescer';

interface Question {
  readonly resolve: (answer: Msg) => void;
  readonly reject: (error: unknown) => void;
  readonly expiresAtMs: number;
}

/** Nobody listens to what was asked: JetStream has no such stream, or is not there. */
export class NoResponders extends Error {
  override readonly name = 'NoResponders';
}

const timeoutMs = 2_000;
const expireEveryMs = 500;

interface RequestsParts {
  readonly departures: WriteCoalescer;
  /** The answering side learns it, so only NATS itself is asked over it: a service that knew it could answer for NATS. */
  readonly inbox: string;
}

/**
 * Asks over one inbox for the whole process. The library's own requests make a timer, an error and a dozen objects each;
 * here a question is one, and all share a timer. Who gets no answer in time may ask again.
 */
export class Requests {
  private readonly open = new Map<string, Question>();
  private lastToken = 0;

  constructor(
    private readonly connection: NatsConnection,
    private readonly parts: RequestsParts,
  ) {
    connection.subscribe(`${parts.inbox}.*`, {
      callback: (error, answer) => error === null && this.hear(answer),
    });
    const timer = setInterval(() => this.expire(performance.now()), expireEveryMs).unref();
    void connection.closed().then(() => {
      clearInterval(timer);
      this.expire(Infinity);
    });
  }

  ask(subject: string, body: string | Uint8Array, headers?: MsgHdrs): Promise<Msg> {
    return new Promise((resolve, reject) => {
      const token = (this.lastToken += 1).toString(36);
      this.open.set(token, { resolve, reject, expiresAtMs: performance.now() + timeoutMs });
      this.parts.departures.soon(() => {
        try {
          this.connection.publish(subject, body, {
            reply: `${this.parts.inbox}.${token}`,
            ...(headers && { headers }),
          });
        } catch (error) {
          this.open.delete(token);
          reject(error);
        }
      });
    });
  }

  private hear(answer: Msg): void {
    const token = answer.subject.slice(this.parts.inbox.length + 1);
    const question = this.open.get(token);
    if (!question) return;

    this.open.delete(token);
    if (answer.data.length === 0 && answer.headers?.code === 503) question.reject(new NoResponders());
    else question.resolve(answer);
  }

  private expire(now: number): void {
    for (const [token, { reject, expiresAtMs }] of this.open) {
      if (expiresAtMs > now) return; // they stand in the order of their time
      this.open.delete(token);
      reject(new TransientError('NATS did not answer in time'));
    }
  }
}
