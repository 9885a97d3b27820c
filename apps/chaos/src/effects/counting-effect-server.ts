import { EventEmitter } from 'node:events';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { EffectLedger, type EffectRequest } from './effect-ledger';

/** What the server does after it has applied the effect. */
export const behaviours = ['plain', 'drop', 'late', 'error'] as const;
export type Behaviour = (typeof behaviours)[number];

/** Longer than the timeout of any caller here. */
const lateMs = 12_000;

interface Moments {
  arrived: [tag: string];
  applied: [request: EffectRequest];
  replied: [tag: string];
}

/**
 * An external system that records every request. `POST /<keyed|unkeyed>/<behaviour>/<tag>` applies the effect and then
 * answers 200, drops the connection, answers too late, or answers 500; a known key is answered 200 without a second
 * effect. It emits an event at each step, so that a fault can be injected exactly there.
 */
export class CountingEffectServer extends EventEmitter<Moments> {
  readonly ledger = new EffectLedger();
  private readonly server: Server = createServer((request, response) => void this.serve(request, response));

  static async start(): Promise<CountingEffectServer> {
    const effects = new CountingEffectServer();
    await new Promise<void>((resolve) => effects.server.listen(0, '127.0.0.1', resolve));
    return effects;
  }

  get host(): string {
    return `127.0.0.1:${(this.server.address() as AddressInfo).port}`; // a TCP server's address is an object
  }

  url({ keyed, behaviour = 'plain', tag }: { keyed: boolean; behaviour?: Behaviour; tag: string }): string {
    return `http://${this.host}/${keyed ? 'keyed' : 'unkeyed'}/${behaviour}/${tag}`;
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.server.closeAllConnections();
    await closed;
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, keyed, behaviour, ...tag] = (request.url ?? '').split('/');
    this.emit('arrived', tag.join('/'));
    const body = await text(request).catch(() => undefined);
    if (body === undefined) return; // the client disconnected before it had sent the request
    const key = request.headers['idempotency-key'];
    const effect = this.ledger.receive({
      tag: tag.join('/'),
      key: Array.isArray(key) ? key[0] : key,
      body,
      credentials: request.headers.authorization,
      honoursKeys: keyed === 'keyed',
    });
    this.emit('applied', effect);
    const isKnown = behaviours.find((name) => name === behaviour);
    this.reply(response, effect, effect.applied && isKnown ? isKnown : 'plain');
  }

  private reply(response: ServerResponse, { tag }: EffectRequest, behaviour: Behaviour): void {
    switch (behaviour) {
      case 'plain':
        response.end('done\n');
        this.emit('replied', tag);
        return;
      case 'drop':
        response.destroy();
        return;
      case 'late':
        setTimeout(() => response.end('done\n'), lateMs).unref();
        return;
      case 'error':
        response.writeHead(500).end('broken\n');
    }
  }
}
