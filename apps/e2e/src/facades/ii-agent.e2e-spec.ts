import { once } from 'node:events';
import { type RondoClient, call } from '@rondo/test-deployment';
import { WebSocket } from 'ws';
import { FacadeDeployment, about, long } from './facade-deployment';

interface Frame {
  readonly type: string;
  readonly content: Readonly<Record<string, unknown>>;
  readonly id?: string;
}

const deployment = FacadeDeployment.forSuite();

/** What the front end of II-Agent does: one socket per session, which it tells who speaks before the first query. */
class IiClient {
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

const said = (frames: readonly Frame[]): string =>
  frames.flatMap(({ type, content }) => (type === 'agent_thinking' ? [content['text']] : [])).join('');

async function findRun(): Promise<string> {
  const { data } = await deployment.other.json<{ data: { id: string }[] }>('GET', '/runs?limit=1');
  return data[0]?.id ?? '';
}

interface Events {
  readonly events: readonly { readonly id: string; readonly event_type: string; readonly event_payload: Frame }[];
}

async function readEvents({ url, key }: RondoClient, session: string): Promise<Events['events']> {
  const headers = { 'X-API-Key': key };
  const response = await fetch(`${url}/ii/api/sessions/${session}/events`, { headers });
  return ((await response.json()) as Events).events;
}

describe('a client of II-Agent', () => {
  it('shows a tool of the deployment and the text after it, and replays them at the other gateway', async () => {
    const client = new IiClient(deployment.client);
    const turns = [{ text: 'I look.', calls: [call('bash', { command: 'echo seen' })] }, { text: 'I have seen it.' }];
    await client.ask(about('tool', turns));
    await client.next('stream_complete');
    expect(client.logged.map(({ type }) => type)).toEqual([
      'agent_thinking', 'tool_call', 'tool_result', 'agent_thinking', 'agent_response', 'stream_complete',
    ]); // prettier-ignore
    expect((await client.next('tool_result')).content).toMatchObject({
      tool_name: 'bash',
      result: expect.stringContaining('seen') as string,
    });
    expect((await client.next('agent_response')).content).toEqual({ text: 'I have seen it.' });

    const events = await readEvents(deployment.other, await client.session());
    expect(events[0]?.event_type).toBe('user_message');
    expect(events.slice(1).map(({ id, event_payload }) => ({ ...event_payload, id }))).toEqual(client.logged);
    await client.close();
  });

  it('answers a question at the other gateway, and goes on on the same session', async () => {
    const client = new IiClient(deployment.client);
    const { id: agent } = await deployment.client.json<{ id: string }>('PUT', '/agents/by-name/ii-painter', {
      definition: { model: 'demo/scripted' },
    });
    const turns = [{ calls: [call('ask', { text: 'Which colour?' })] }, { text: 'It is blue.' }];
    const session = await client.session();
    client.send('init_agent', { model_name: agent });
    client.send('query', { text: about('question', turns) });
    expect((await client.next('agent_response')).content).toEqual({ text: 'Which colour?' });

    const elsewhere = new IiClient(deployment.other, { session_uuid: session });
    await elsewhere.ask('Blue.', true);
    await client.next('stream_complete', 2);
    await elsewhere.next('stream_complete', 2); // the run that asked is shown from its beginning
    expect(elsewhere.logged).toEqual(client.logged);
    expect(said(client.logged)).toBe('It is blue.');
    await elsewhere.ask(about('next', [{ text: 'Once more.' }]), true);
    await client.next('stream_complete', 3);
    expect(said(client.logged)).toBe('It is blue.Once more.');
    await Promise.all([client.close(), elsewhere.close()]);
  });

  it('stops a run with its command, and is told when that is true', async () => {
    const client = new IiClient(deployment.client);
    await client.ask(about('stop', [{ calls: [call('bash', { command: 'sleep 600' })] }, { text: 'Slept.' }]));
    await client.next('tool_call');
    const id = await findRun();
    client.send('cancel');
    await client.next('system');
    await client.next('agent_response_interrupted');
    expect(await deployment.client.settled(id)).toMatchObject({ status: 'stopped' });
    await client.close();
  });

  it('leaves its run alone when it closes', async () => {
    const client = new IiClient(deployment.client);
    await client.ask(about('left', [{ text: long, pace_ms: 20 }]));
    const session = await client.session();
    await client.close();
    const again = new IiClient(deployment.other, { session_uuid: session });
    await again.next('stream_complete');
    expect(said(again.logged)).toBe(long);
    await again.close();
  });

  it('has each frame once after kills of the worker and the gateway in the middle of a reply', async () => {
    const client = new IiClient(deployment.client);
    const turns = [
      { text: 'I look.', calls: [call('bash', { command: 'echo seen' })] },
      { text: long, pace_ms: 20 },
    ];
    await client.ask(about('killed', turns));
    const session = await client.session();
    await client.next('tool_result');
    const id = await findRun();
    const restarted = deployment.other.seen(id, 'iteration.restarted');
    await deployment.other.seen(id, 'message.delta', 20);
    await Promise.all([deployment.killWorkers(), restarted]);
    await deployment.killGateway();
    await client.cut();

    const after = client.logged.at(-1)?.id ?? '';
    const again = new IiClient(deployment.other, { session_uuid: session, after });
    await again.next('stream_complete');
    const frames = [...client.logged, ...again.logged];
    expect(said(frames)).toBe(`I look.${long}`);
    const events = await readEvents(deployment.other, session);
    expect(frames.map((frame) => frame.id)).toEqual(events.slice(1).map((event) => event.id));
    await again.close();
    await deployment.client.settled(id); // the killed gateway is back
  });
});
