import { TransientError } from '@rondo/domain';
import type { Msg, MsgHdrs, NatsConnection } from 'nats';
import type { WriteCoalescer } from './write-coalescer';

interface PendingRequest {
  readonly resolve: (answer: Msg) => void;
  readonly reject: (error: unknown) => void;
  readonly expiresAtMs: number;
}

/** No subscriber on the subject: the stream does not exist, or JetStream is not available. */
export class NoResponders extends Error {
  override readonly name = 'NoResponders';
}

const timeoutMs = 2_000;
const expireEveryMs = 500;

interface RequestsParts {
  readonly writes: WriteCoalescer;
  /** Whoever receives a request learns the inbox and could answer in the name of NATS, so only NATS itself gets requests. */
  readonly inbox: string;
}

/**
 * Requests to JetStream over one inbox for the whole process. The client library creates a timer, an error and a dozen
 * objects for each request; here a request is one object, and all share a timer. A request that times out may be repeated.
 */
export class Requests {
  private readonly open = new Map<string, PendingRequest>();
  private lastToken = 0;

  constructor(
    private readonly connection: NatsConnection,
    private readonly parts: RequestsParts,
  ) {
    connection.subscribe(`${parts.inbox}.*`, {
      callback: (error, answer) => error === null && this.onReply(answer),
    });
    const timer = setInterval(() => this.expire(performance.now()), expireEveryMs).unref();
    void connection.closed().then(() => {
      clearInterval(timer);
      this.expire(Infinity);
    });
  }

  request(subject: string, body: string | Uint8Array, headers?: MsgHdrs): Promise<Msg> {
    return new Promise((resolve, reject) => {
      const token = (this.lastToken += 1).toString(36);
      this.open.set(token, { resolve, reject, expiresAtMs: performance.now() + timeoutMs });
      this.parts.writes.soon(() => {
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

  private onReply(answer: Msg): void {
    const token = answer.subject.slice(this.parts.inbox.length + 1);
    const request = this.open.get(token);
    if (!request) return;

    this.open.delete(token);
    if (answer.data.length === 0 && answer.headers?.code === 503) request.reject(new NoResponders());
    else request.resolve(answer);
  }

  private expire(now: number): void {
    for (const [token, { reject, expiresAtMs }] of this.open) {
      if (expiresAtMs > now) return; // a Map keeps the order of insertion, which is that of expiry
      this.open.delete(token);
      reject(new TransientError('NATS did not answer in time'));
    }
  }
}
