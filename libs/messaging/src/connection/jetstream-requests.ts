import { TransientError } from '@rondo/domain';
import type { Msg, MsgHdrs, NatsConnection } from 'nats';
import { z } from 'zod';
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

/** JetStream refused to store the message. */
export class StorageRefused extends Error {
  override readonly name = 'StorageRefused';

  constructor(
    readonly code: number,
    description: string,
  ) {
    super(description);
  }
}

const timeoutMs = 2_000;
const expireEveryMs = 500;

interface JetStreamRequestsParts {
  readonly writes: WriteCoalescer;
  /** A receiver of a request learns the inbox and could answer in the name of NATS, so only NATS itself gets requests. */
  readonly inbox: string;
}

/**
 * Requests to JetStream over one inbox for the whole process. The client library creates a timer, an error and a dozen
 * objects for each request; here a request is one object, and all share a timer. A request that times out may be repeated.
 */
export class JetStreamRequests {
  private readonly open = new Map<string, PendingRequest>();
  private lastToken = 0;
  /** Runs while requests are open: an idle process has none, and need not wake for it. */
  private expiry: NodeJS.Timeout | undefined;

  constructor(
    private readonly connection: NatsConnection,
    private readonly parts: JetStreamRequestsParts,
  ) {
    connection.subscribe(`${parts.inbox}.*`, {
      callback: (error, answer) => error === null && this.onReply(answer),
    });
    void connection.closed().then(() => this.expire(Infinity));
  }

  request(subject: string, body: string | Uint8Array, headers?: MsgHdrs): Promise<Msg> {
    return new Promise((resolve, reject) => {
      const token = (this.lastToken += 1).toString(36);
      this.open.set(token, { resolve, reject, expiresAtMs: performance.now() + timeoutMs });
      this.expireLater();
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

  private expireLater(): void {
    this.expiry ??= setTimeout(() => {
      this.expiry = undefined;
      this.expire(performance.now());
      if (this.open.size > 0) this.expireLater();
    }, expireEveryMs).unref();
  }

  private expire(now: number): void {
    for (const [token, { reject, expiresAtMs }] of this.open) {
      if (expiresAtMs > now) return; // a Map keeps the order of insertion, which is that of expiry
      this.open.delete(token);
      reject(new TransientError('NATS did not answer in time'));
    }
  }
}

const refusal = z.object({ error: z.object({ err_code: z.number(), description: z.string().default('') }) });

/** Returns when JetStream's answer to a publication confirms that it is stored; else throws StorageRefused. */
export function assertStored(answer: Msg): void {
  const text = answer.string();
  if (text.startsWith('{"stream":')) return; // a refusal begins with `error`
  const { error } = refusal.parse(JSON.parse(text));
  throw new StorageRefused(error.err_code, error.description);
}
