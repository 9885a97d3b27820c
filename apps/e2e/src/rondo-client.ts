import { type Socket, io } from 'socket.io-client';

export interface Fact {
  readonly id: string;
  readonly seq: number;
  readonly type: string;
  readonly iteration: number;
  readonly epoch: number;
  readonly at: string;
  /** Tests look into any event, so this is as loose as JSON is. */
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

const ends = ['run.completed', 'run.failed', 'run.stopped'];

/** An outside client: it knows the public contract and nothing else. */
export class RondoClient {
  constructor(
    readonly url: string,
    readonly key: string,
  ) {}

  async request(method: string, path: string, body?: unknown): Promise<{ status: number; text: string }> {
    const response = await fetch(`${this.url}/v1${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${this.key}`,
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

  createRun(body: Record<string, unknown>): Promise<RunView> {
    return this.json('POST', '/runs', body);
  }

  run(id: string): Promise<RunView> {
    return this.json('GET', `/runs/${id}`);
  }

  /** Resolves when the run is over or waits for somebody, also across gateways that die in between. */
  async settled(id: string, timeoutMs = 90_000): Promise<RunView> {
    const deadline = Date.now() + timeoutMs;
    for (;;) {
      const run = await this.json<RunView>('GET', `/runs/${id}/wait?timeout_s=5`).catch(() => undefined);
      if (run && /^(completed|failed|stopped|waiting_)/.test(run.status)) return run;
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
      headers: { Authorization: `Bearer ${this.key}`, ...headers },
    });
    const blocks = (await response.text()).split('\n\n').filter((block) => /^(id|event|data):/m.test(block));
    return blocks.map((block) =>
      Object.fromEntries(block.split('\n').map((line) => line.split(/:\s(.*)/s).slice(0, 2))),
    );
  }

  connect(): Socket {
    return io(`${this.url}/runs`, { transports: ['websocket'], auth: { token: this.key }, forceNew: true });
  }

  /** Resolves when an event of this type was seen live. */
  async seen(id: string, type: string): Promise<void> {
    const socket = this.connect();
    await new Promise<void>((resolve) => {
      socket.on('event', (event: { type: string }) => {
        if (event.type === type) resolve();
      });
      void socket.emitWithAck('run.subscribe', { run_id: id, after_seq: 0 });
    });
    socket.close();
  }

  /** What the calls of a run answered, in order. */
  async toolOutputs(id: string): Promise<string[]> {
    const { data } = await this.json<{ data: { result: { output: string } }[] }>('GET', `/runs/${id}/tool-calls`);
    return data.map(({ result }) => result.output);
  }

  /** Watches a run over Socket.IO to its end (or to its next question). */
  async watch(id: string, afterSeq = 0): Promise<(Fact | Delta)[]> {
    const socket = this.connect();
    const seen: (Fact | Delta)[] = [];
    try {
      return await new Promise((resolve, reject) => {
        socket.on('connect_error', reject);
        socket.on('event', (event: Fact | Delta) => {
          seen.push(event);
          if (ends.includes(event.type) || event.type === 'run.waiting') resolve(seen);
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

/** What must be true of every run's log, however it came about (I2, I5, I6). */
export function expectWholeLog(facts: readonly Fact[]): void {
  expect(facts.map(({ seq }) => seq)).toEqual(facts.map((_, index) => index + 1));

  const planned = facts.filter(({ type }) => type === 'tool.planned').map(({ data }) => data.tool_call.id as string);
  const answered = facts
    .filter(({ type }) => ['tool.completed', 'tool.failed', 'tool.unknown'].includes(type))
    .map(({ data }) => data.tool_call_id as string);
  expect(answered.toSorted()).toEqual(planned.toSorted());

  const terminal = facts.filter(({ type }) => ends.includes(type));
  expect(terminal).toHaveLength(1);
  expect(facts.at(-1)).toBe(terminal[0]);
}

/** The text of each stream that nothing withdrew, joined from deltas: what a watcher has on the screen (I13). */
export function shownText(events: readonly (Fact | Delta)[]): Map<string, string> {
  const shown = new Map<string, string>();
  for (const event of events) {
    if (event.type === 'iteration.restarted') {
      for (const id of event.data.withdrawn_stream_ids as string[]) shown.delete(id);
    }
    if (event.seq !== null || event.type !== 'message.delta') continue;
    const text = shown.get(event.stream_id) ?? '';
    expect({ stream: event.stream_id, offset: event.offset }).toEqual({ stream: event.stream_id, offset: text.length });
    shown.set(event.stream_id, text + String(event.data.text));
  }
  return shown;
}

/** The text of each assistant message in the log. */
export const storedText = (facts: readonly (Fact | Delta)[]): Map<string, string> =>
  new Map(
    facts
      .filter(({ type, data }) => type === 'message.created' && data.message.type === 'assistant')
      .map(({ data }): [string, string] => [
        data.message.id as string,
        textOf(data.message.content as { type: string; text: string }[]),
      ])
      .filter(([, text]) => text !== ''),
  );

const textOf = (content: readonly { type: string; text: string }[]): string =>
  content.flatMap((block) => (block.type === 'text' ? block.text : [])).join('');

/** What a watcher was shown of a message is what was stored of it; who comes after a message was stored is shown only the fact. */
export function expectShownAsStored(events: readonly (Fact | Delta)[], facts: readonly Fact[]): void {
  const stored = storedText(facts);
  for (const [id, text] of shownText(events)) expect({ id, text }).toEqual({ id, text: stored.get(id) });
}
