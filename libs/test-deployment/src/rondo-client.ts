import { setTimeout as delay } from 'node:timers/promises';
import { isTerminalFact } from '@rondo/contract';
import { type Socket, io } from 'socket.io-client';

/** Before a gateway that is away is asked again, which would take a whole core from its start. */
const retryMs = 50;

export interface Fact {
  readonly id: string;
  readonly seq: number;
  readonly type: string;
  readonly iteration: number;
  readonly epoch: number;
  readonly at: string;
  /** Any JSON, since tests read every kind of event. */
  readonly data: Record<string, any>; // eslint-disable-line @typescript-eslint/no-explicit-any
}

export interface Delta extends Omit<Fact, 'seq'> {
  readonly seq: null;
  readonly after_seq: number;
  readonly stream_id: string;
  readonly offset: number;
}

export interface RunView {
  readonly id: string;
  readonly thread_id: string;
  readonly status: string;
  readonly iteration: number;
  readonly last_seq: number;
  readonly finish_reason: string | null;
  readonly error: { code: string; message: string } | null;
}

export const isDelta = (event: Fact | Delta): event is Delta => event.seq === null;

/** A client that uses nothing but the public contract, and shows what came over the wire. */
export class RondoClient {
  constructor(
    readonly url: string,
    readonly key: string,
    private readonly headers: Readonly<Record<string, string>> = {},
  ) {}

  async request(method: string, path: string, body?: unknown): Promise<{ status: number; text: string }> {
    const response = await fetch(`${this.url}/v1${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${this.key}`,
        ...this.headers,
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: response.status, text: await response.text() };
  }

  async json<Body>(method: string, path: string, body?: unknown): Promise<Body> {
    const { status, text } = await this.request(method, path, body);
    if (status >= 400) throw new Error(`${method} ${path} → ${status} ${text}`);
    return JSON.parse(text) as Body;
  }

  /** A new account, and a client for it. Only the operator's client can make one. */
  async newAccount(name = 'Tenant'): Promise<{ id: string; client: RondoClient }> {
    const made = await this.json<{ account: { id: string }; api_key: string }>('POST', '/admin/accounts', { name });
    return { id: made.account.id, client: new RondoClient(this.url, made.api_key) };
  }

  createRun(body: Record<string, unknown>): Promise<RunView> {
    return this.json('POST', '/runs', body);
  }

  run(id: string): Promise<RunView> {
    return this.json('GET', `/runs/${id}`);
  }

  /** Resolves when the run has ended or waits for an answer; retries while a gateway is down. */
  async waitForRun(id: string, timeoutMs = 90_000): Promise<RunView> {
    const deadline = Date.now() + timeoutMs;
    for (;;) {
      const run = await this.json<RunView>('GET', `/runs/${id}/wait?timeout_s=5`).catch(() => delay(retryMs));
      if (run && /^(completed|failed|stopped|waiting_input|waiting_budget|waiting_tool)$/.test(run.status)) return run;
      if (Date.now() > deadline) throw new Error(`${id} did not settle: ${JSON.stringify(run)}`);
    }
  }

  async facts(id: string): Promise<Fact[]> {
    const facts: Fact[] = [];
    for (;;) {
      const page = await this.json<{ data: Fact[]; head_seq: number }>(
        'GET',
        `/runs/${id}/events?after=${facts.length}&limit=200`,
      );
      facts.push(...page.data);
      if (page.data.length === 0 || facts.length >= page.head_seq) return facts;
    }
  }

  /** The whole SSE stream of a run, until it ends by itself. */
  async sse(id: string, headers: Record<string, string> = {}): Promise<{ id?: string; event: string; data: string }[]> {
    const response = await fetch(`${this.url}/v1/runs/${id}/stream`, {
      headers: { Authorization: `Bearer ${this.key}`, ...this.headers, ...headers },
    });
    const blocks = (await response.text()).split('\n\n').filter((block) => /^(id|event|data):/m.test(block));
    return blocks.map(createFields);
  }

  connect(): Socket {
    return io(`${this.url}/runs`, {
      transports: ['websocket'],
      auth: { token: this.key },
      forceNew: true,
      extraHeaders: this.headers,
    });
  }

  /** Resolves when an event of this type, or so many of them, have arrived over Socket.IO. */
  async waitForEvent(id: string, type: string, times = 1): Promise<void> {
    const socket = this.connect();
    let missing = times;
    await new Promise<void>((resolve) => {
      socket.on('event', (event: { type: string }) => {
        if (event.type === type && (missing -= 1) === 0) resolve();
      });
      socket.emit('run.subscribe', { run_id: id, after_seq: 0 }); // the event may come before the answer
    });
    socket.close();
  }

  /** The outputs of the run's tool calls, in order. */
  async toolOutputs(id: string): Promise<string[]> {
    const { data } = await this.json<{ data: { result: { output: string } }[] }>('GET', `/runs/${id}/tool-calls`);
    return data.map(({ result }) => result.output);
  }

  /** The events of a run over Socket.IO, until it ends or waits. */
  async watch(id: string, afterSeq = 0): Promise<(Fact | Delta)[]> {
    const socket = this.connect();
    const seen: (Fact | Delta)[] = [];
    try {
      return await new Promise((resolve, reject) => {
        socket.on('connect_error', reject);
        socket.on('event', (event: Fact | Delta) => {
          seen.push(event);
          if (isTerminalFact(event) || event.type === 'run.waiting') resolve(seen);
        });
        socket
          .emitWithAck('run.subscribe', { run_id: id, after_seq: afterSeq })
          .then(
            (ack: { ok: boolean; error?: unknown }) => ack.ok || reject(new Error(JSON.stringify(ack.error))),
            reject,
          );
      });
    } finally {
      socket.close();
    }
  }
}

const createFields = (block: string) =>
  Object.fromEntries(block.split('\n').map((line) => line.split(/:\s(.*)/s).slice(0, 2))) as {
    id?: string;
    event: string;
    data: string;
  }; // the tests find a gateway that sends anything else
