import { once } from 'node:events';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { verifyWebhookId } from '../triggers/webhook-signature';

export interface ReceivedRequest {
  readonly id: string;
  readonly type: string;
  readonly body: string;
  /** Whether the signature is of this secret. */
  readonly isSignedBy: (secret: string) => boolean;
}

type Answer = (response: ServerResponse, request: ReceivedRequest) => unknown;

/** An HTTP server that records the webhooks that it gets, and answers as it is told. */
export class WebhookReceiverServer {
  readonly received: ReceivedRequest[] = [];
  answer: Answer = (response) => response.writeHead(204).end();
  private readonly server = createServer((request, response) => void this.take(request, response));

  static async start(): Promise<WebhookReceiverServer> {
    const receiver = new WebhookReceiverServer();
    receiver.server.listen(0, '127.0.0.1');
    await once(receiver.server, 'listening');
    return receiver;
  }

  /** `host:port`. */
  get host(): string {
    return `127.0.0.1:${(this.server.address() as AddressInfo).port}`; // it listens on TCP
  }

  get url(): string {
    return `http://${this.host}/hook`;
  }

  async close(): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
    await once(this.server, 'close');
  }

  private async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const { headers } = request;
    const isSignedBy = (secret: string) =>
      verifyWebhookId(
        { headers, body },
        { scheme: 'standard', secrets: [secret], toleranceS: 300, now: new Date() },
      ) !== undefined;
    const id = String(headers['webhook-id']);
    const received = { id, type: JSON.parse(body.toString()).type as string, body: body.toString(), isSignedBy };
    this.received.push(received);
    this.answer(response, received);
  }
}
