import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** One attempt to deliver an event. */
export interface ReceivedAttempt {
  readonly id: string;
  /** True if it was answered with 204. */
  readonly accepted: boolean;
  readonly signed: boolean;
  readonly body: string;
}

/** A part of the events is refused at first, and another part is taken without an answer. */
const moods = 16;
const refused = 0;
const unanswered = 1;

/** An endpoint that webhooks are sent to. It remembers every attempt. */
export class WebhookReceiver {
  readonly attempts: ReceivedAttempt[] = [];
  /** Of the endpoint, once it is created. */
  secret = '';
  private readonly known = new Set<string>();
  private readonly server: Server = createServer((request, response) => void this.serve(request, response));

  static async start(): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver();
    await new Promise<void>((resolve) => receiver.server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  get host(): string {
    return `127.0.0.1:${(this.server.address() as AddressInfo).port}`; // a TCP server's address is an object
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.server.closeAllConnections();
    await closed;
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request).catch(() => undefined);
    if (body === undefined) return; // the sender died while it sent
    const id = toHeader(request, 'webhook-id');
    const timestamp = toHeader(request, 'webhook-timestamp');
    const signature = toHeader(request, 'webhook-signature');
    const mood = this.known.has(id) ? undefined : toMood(id);
    const accepted = mood !== refused && mood !== unanswered && !response.destroyed;
    this.known.add(id);
    this.attempts.push({ id, accepted, body, signed: isSigned(this.secret, { id, timestamp, body, signature }) });
    if (mood === unanswered) response.destroy();
    else response.writeHead(accepted ? 204 : 500).end();
  }
}

/** The same for each event in every run of the campaign. */
const toMood = (id: string): number => (createHash('sha256').update(id).digest()[0] ?? 0) % moods;

const toHeader = ({ headers }: IncomingMessage, name: string): string => String(headers[name] ?? '');

interface SignedWebhook {
  readonly id: string;
  /** Seconds since 1970. */
  readonly timestamp: string;
  readonly body: string;
}

/** The header `webhook-signature` of the Standard Webhooks specification. `secret` begins with `whsec_`. */
export function toSignature(secret: string, { id, timestamp, body }: SignedWebhook): string {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
}

/** Whether one of the signatures in the header is right. */
function isSigned(secret: string, webhook: SignedWebhook & { readonly signature: string }): boolean {
  const expected = Buffer.from(toSignature(secret, webhook));
  return webhook.signature.split(' ').some((one) => {
    const given = Buffer.from(one);
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}
