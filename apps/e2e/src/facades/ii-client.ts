import { once } from 'node:events';
import type { RondoClient } from '@rondo/test-deployment';
import { WebSocket } from 'ws';

export interface Frame {
  readonly type: string;
  readonly content: Readonly<Record<string, unknown>>;
  readonly id?: string;
}

/** What the front end of II-Agent does: one socket per session, which it tells who speaks before the first query. */
export class IiClient {
  readonly frames: Frame[] = [];
  private readonly socket: WebSocket;
  private readonly closed: Promise<unknown>;

  constructor({ url, key }: RondoClient, query: Readonly<Record<string, string>> = {}) {
    const headers = { Authorization: `Bearer ${key}` };
    this.socket = new WebSocket(`${url}/ii/ws?${new URLSearchParams({ device_id: 'device-1', ...query }).toString()}`, {
      headers,
    });
    this.socket.on('error', () => undefined); // being cut is an error of it
    this.socket.on('message', (data: Buffer) => {
      this.frames.push(JSON.parse(data.toString()) as Frame);
    });
    this.closed = once(this.socket, 'close');
  }

  send(type: string, content: object = {}): void {
    this.socket.send(JSON.stringify({ type, content }));
  }

  /** When so many frames of this type have come. */
  async next(type: string, count = 1): Promise<Frame> {
    for (;;) {
      const found = this.frames.filter((frame) => frame.type === type)[count - 1];
      if (found) return found;
      const isClosed = await Promise.race([
        once(this.socket, 'message').then(() => false),
        this.closed.then(() => true),
      ]);
      if (isClosed) throw new Error(`closed before ${type}: ${JSON.stringify(this.frames)}`);
    }
  }

  async session(): Promise<string> {
    const { content } = await this.next('connection_established');
    return String(content['workspace_path']).replace('/workspace/', '');
  }

  async ask(text: string, resume = false): Promise<void> {
    await this.next('connection_established');
    this.send('init_agent', {
      model_name: 'demo/scripted',
      tool_args: { pdf: true, browser: true },
      thinking_tokens: 0,
    });
    this.send('query', { text, resume, files: [] });
    await this.next('processing');
  }

  /** Those that follow from the log. */
  get logged(): Frame[] {
    return this.frames.filter(({ id }) => id !== undefined);
  }

  async close(): Promise<void> {
    this.socket.close();
    await this.closed;
  }

  /** Resolves when the gateway is gone. */
  async cut(): Promise<void> {
    await this.closed;
  }
}

interface Events {
  readonly events: readonly { readonly id: string; readonly event_type: string; readonly event_payload: Frame }[];
}

export async function readEvents({ url, key }: RondoClient, session: string): Promise<Events['events']> {
  const headers = { 'X-API-Key': key };
  const response = await fetch(`${url}/ii/api/sessions/${session}/events`, { headers });
  return ((await response.json()) as Events).events;
}
