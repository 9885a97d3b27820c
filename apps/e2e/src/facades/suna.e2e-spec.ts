import { type RondoClient, call, command } from '@rondo/test-deployment';
import { FacadeDeployment, about, long } from './facade-deployment';

interface Begun {
  readonly thread_id: string;
  readonly agent_run_id: string;
}

/** A row of the stream, with its content parsed. The last line has a status instead. */
interface Row {
  readonly type: string;
  readonly status?: string;
  readonly content: { readonly content?: string; readonly status_type?: string; readonly tool_calls?: unknown };
  readonly metadata: { readonly stream_status?: string };
}

const deployment = FacadeDeployment.forSuite();

/** What the front end of Suna does: forms, JSON, and an EventSource, which sends no header. */
class SunaClient {
  constructor(
    private readonly at: () => RondoClient,
    private readonly key = () => this.at().key,
  ) {}

  async send<Answer>(method: 'GET' | 'POST', path: string, body?: FormData | object): Promise<Answer> {
    const response = await this.fetch(method, path, body);
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
    return (await response.json()) as Answer;
  }

  fetch(method: 'GET' | 'POST', path: string, body?: FormData | object): Promise<Response> {
    const isForm = body instanceof FormData;
    const type = body && !isForm ? { 'Content-Type': 'application/json' } : {};
    const content = body && (isForm ? body : JSON.stringify(body));
    return fetch(`${this.at().url}/suna/api${path}`, {
      method,
      headers: { 'X-API-Key': this.key(), ...type },
      ...(content && { body: content }),
    });
  }

  initiate(prompt: string, ...files: readonly File[]): Promise<Begun> {
    const form = new FormData();
    form.append('prompt', prompt);
    form.append('model_name', 'demo/scripted');
    for (const field of ['enable_thinking', 'enable_context_manager']) form.append(field, 'false');
    for (const file of files) form.append('files', file, file.name);
    return this.send('POST', '/agent/initiate', form);
  }

  /** The rows of a run up to the end of its stream, or up to where the connection broke off. */
  async watch(runId: string, seen: (row: Row) => void = () => undefined, query = ''): Promise<Row[]> {
    const headers = query === '' ? { 'X-API-Key': this.key() } : undefined;
    const response = await fetch(`${this.at().url}/suna/api/agent-run/${runId}/stream${query}`, headers && { headers });
    if (!response.ok || !response.body) throw new Error(`${response.status} ${await response.text()}`);
    const rows: Row[] = [];
    let rest = '';
    try {
      for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
        const lines = (rest + piece).split('\n\n');
        rest = lines.pop() ?? '';
        for (const line of lines) {
          const {
            content = '{}',
            metadata = '{}',
            ...row
          } = JSON.parse(line.replace('data: ', '')) as Record<string, string>;
          const read = { ...row, content: JSON.parse(content), metadata: JSON.parse(metadata) } as unknown as Row;
          rows.push(read);
          seen(read);
        }
      }
    } catch {
      // the gateway was killed: a client opens the stream again
    }
    return rows;
  }
}

const suna = new SunaClient(() => deployment.client);
const other = new SunaClient(() => deployment.other);

const said = (rows: readonly Row[], status: 'chunk' | 'complete'): string =>
  rows
    .filter(({ type, metadata }) => type === 'assistant' && metadata.stream_status === status)
    .map(({ content }) => content.content ?? '')
    .join('');
const states = (rows: readonly Row[]): string[] => rows.flatMap(({ content }) => content.status_type ?? []);

/** Calls `act` once, when the text has begun. */
function onText(act: () => void): (row: Row) => void {
  let characters = 0;
  return ({ type, content }) => {
    if (type !== 'assistant' || characters >= 40) return;
    characters += content.content?.length ?? 0;
    if (characters >= 40) act();
  };
}

describe('a client of Suna', () => {
  it('sends a file with the first message, and watches a tool and the text after it', async () => {
    const turns = [{ text: 'I look. ', calls: [command('cat notes.txt')] }, { text: 'I have read it.' }];
    const notes = new File(['It is on Monday.'], 'notes.txt');
    const { agent_run_id: id, thread_id: thread } = await suna.initiate(about('files', turns), notes);
    const rows = await suna.watch(id);

    expect(said(rows, 'complete')).toBe('I look. I have read it.');
    expect(rows.find(({ type }) => type === 'tool')?.content.content).toContain('It is on Monday.');
    expect(states(rows)).toEqual([
      'thread_run_start', 'assistant_response_start', 'tool_started', 'tool_completed', 'finish',
      'assistant_response_start', 'finish', 'thread_run_end',
    ]); // prettier-ignore
    expect(rows.at(-1)?.status).toBe('completed');
    expect(await suna.send('GET', `/agent-run/${id}`)).toMatchObject({ id, threadId: thread, status: 'completed' });
    const { messages } = await suna.send<{ messages: { type: string }[] }>('GET', `/threads/${thread}/messages`);
    expect(messages.map(({ type }) => type)).toEqual(['user', 'assistant', 'tool', 'assistant']);
  });

  it('answers a question at the other gateway, and goes on on the same thread', async () => {
    const turns = [{ calls: [call('ask', { text: 'Which colour?' })] }, { text: 'It is blue.' }];
    const { agent_run_id: id, thread_id: thread } = await suna.initiate(about('question', turns));
    expect((await suna.watch(id)).at(-1)?.status).toBe('completed');
    expect(await suna.send('GET', `/agent-run/${id}`)).toMatchObject({ status: 'completed', completedAt: null });

    await other.send('POST', `/threads/${thread}/messages/add?message=Blue.`);
    const start = (words: object) =>
      other.send<{ agent_run_id: string }>('POST', `/thread/${thread}/agent/start`, words);
    await deployment.client.waitForRun(id);
    expect(said(await other.watch(id), 'complete')).toBe('It is blue.');

    const message = about('next', [{ text: 'Once more.' }]);
    await other.send('POST', `/threads/${thread}/messages/add`, { message });
    const { agent_run_id: next } = await start({ model_name: 'demo/scripted', stream: true });
    expect(said(await suna.watch(next), 'complete')).toBe('Once more.');
    const { agent_runs: runs } = await suna.send<{ agent_runs: { id: string }[] }>(
      'GET',
      `/thread/${thread}/agent-runs`,
    );
    expect(runs.map((run) => run.id)).toEqual([next, id]);
  });

  it('stops a run, and is told so in the stream', async () => {
    const { agent_run_id: id, thread_id: thread } = await suna.initiate(about('stop', [{ text: long, pace_ms: 20 }]));
    let stopping: Promise<unknown> | undefined;
    const rows = await suna.watch(
      id,
      onText(() => void (stopping = other.send('POST', `/agent-run/${id}/stop`))),
    );
    expect(await stopping).toEqual({ status: 'stopped' });
    expect(rows.at(-1)?.status).toBe('stopped');
    const active = await suna.send<{ agent_runs: object[] }>('GET', `/thread/${thread}/agent-runs`);
    expect(active.agent_runs).toMatchObject([{ id, status: 'stopped' }]);
  });

  it('is given the active run where it starts another one', async () => {
    const { agent_run_id: id, thread_id: thread } = await suna.initiate(about('twice', [{ text: long, pace_ms: 20 }]));
    expect(await other.send('POST', `/thread/${thread}/agent/start`, {})).toEqual({
      agent_run_id: id,
      status: 'running',
    });
    await suna.send('POST', `/agent-run/${id}/stop`);
  });

  it('tells a run something while it works, with its message and its start at the same moment', async () => {
    const begun = await suna.initiate(about('told', [{ text: long, pace_ms: 20 }]));
    const { agent_run_id: id, thread_id: thread } = begun;
    const message = about('in blue', [{ text: 'It is blue.' }]);
    let telling: Promise<[unknown, unknown]> | undefined;
    const tell = () =>
      Promise.all([
        other.send('POST', `/threads/${thread}/messages/add`, { message }),
        suna.send('POST', `/thread/${thread}/agent/start`, {}),
      ]);
    const rows = await suna.watch(
      id,
      onText(() => void (telling = tell())),
    );
    expect((await telling)?.[1]).toEqual({ agent_run_id: id, status: 'running' });
    expect(said(rows, 'complete')).toBe(`${long}It is blue.`);
    const { agent_runs: runs } = await suna.send<{ agent_runs: object[] }>('GET', `/thread/${thread}/agent-runs`);
    expect(runs).toMatchObject([{ id, status: 'completed' }]);
  });

  it('has the whole text once after kills of the worker and the gateway', async () => {
    const { agent_run_id: id } = await suna.initiate(about('killed', [{ text: long, pace_ms: 20 }]));
    let killing: Promise<void> | undefined;
    const kill = async () => {
      const restarted = deployment.other.waitForEvent(id, 'iteration.restarted');
      await Promise.all([deployment.killWorkers(), restarted]);
      await deployment.killGateway();
    };
    const cut = await suna.watch(
      id,
      onText(() => void (killing = kill())),
    );
    await killing;
    expect(cut.at(-1)?.status).toBeUndefined();

    const rows = await other.watch(id);
    expect(said(rows, 'chunk')).toBe(long);
    expect(said(rows, 'complete')).toBe(long);
    expect(rows.at(-1)?.status).toBe('completed');
    await deployment.client.waitForRun(id); // the killed gateway is back
  });

  it('watches with a client token in the URL, and with no key there', async () => {
    const { agent_run_id: id, thread_id: thread } = await suna.initiate(about('token', [{ text: 'Hello.' }]));
    const request = { thread_id: thread, scopes: ['read'], expires_in: 60 };
    const { token } = await deployment.client.json<{ token: string }>('POST', '/client-tokens', request);
    expect(said(await suna.watch(id, undefined, `?token=${token}`), 'complete')).toBe('Hello.');

    await expect(suna.watch(id, undefined, `?token=${deployment.client.key}`)).rejects.toThrow('client token');
    const { agent_run_id: foreign } = await suna.initiate(about('foreign', [{ text: 'Secret.' }]));
    await expect(suna.watch(foreign, undefined, `?token=${token}`)).rejects.toThrow('404');
  });

  it('is served what its own pages ask for before and after a run, as they ask for it', async () => {
    const headers = { Authorization: `Bearer ${deployment.client.key}` };
    const api = `${deployment.client.url}/suna/api`;
    expect(await (await fetch(`${api}/health`)).json()).toMatchObject({ status: 'ok' });
    const { models } = await suna.send<{ models: { id: string; is_available: boolean }[] }>(
      'GET',
      '/billing/available-models',
    );
    expect(models).toContainEqual(expect.objectContaining({ id: 'demo/plain', is_available: true }));
    const start = async (fields: Record<string, string>, ...files: readonly File[]) => {
      const body = new FormData();
      for (const [name, value] of Object.entries(fields)) body.append(name, value);
      for (const file of files) body.append('files', file);
      const response = await fetch(`${api}/agent/start`, { method: 'POST', headers, body });
      return (await response.json()) as Begun & { status: string };
    };
    const notes = new File(['It is on Monday.'], 'notes.txt');
    const turns = [
      { calls: [command('cat notes.txt')] },
      { calls: [call('ask', { text: 'Which?' })] },
      { text: 'So.' },
    ];
    const begun = await start({ prompt: about('pages', turns), model_name: 'demo/scripted' }, notes);
    expect(begun.status).toBe('running');
    expect(JSON.stringify(await suna.watch(begun.agent_run_id))).toContain('It is on Monday.');
    const answered = await start({ thread_id: begun.thread_id, prompt: 'The first.' });
    expect(answered).toEqual({ ...begun, status: 'running' });
    expect(said(await other.watch(begun.agent_run_id), 'complete')).toContain('So.');

    const prompt = about('pages, again', [{ text: long, pace_ms: 20 }]);
    const next = await start({ thread_id: begun.thread_id, prompt, model_name: 'demo/scripted' });
    const { active_runs: active } = await other.send<{ active_runs: { id: string }[] }>('GET', '/agent-runs/active');
    expect(active).toContainEqual(
      expect.objectContaining({ id: next.agent_run_id, thread_id: begun.thread_id, status: 'running' }),
    );
    const stopped = await fetch(`${api}/agent-run/${next.agent_run_id}/stop`, {
      method: 'POST',
      headers: { ...headers, 'Content-Type': 'application/json' }, // and no body
    });
    expect(await stopped.json()).toEqual({ status: 'stopped' });
    expect(await start({ prompt: '' })).toMatchObject({ detail: expect.stringContaining('prompt') as string });
  });

  it('reads a run that was begun elsewhere, and is refused by name what is not served', async () => {
    const { id } = await deployment.client.createRun({
      input: about('elsewhere', [{ text: 'Here.' }]),
      model: 'demo/scripted',
    });
    expect(said(await suna.watch(id), 'complete')).toBe('Here.');

    const form = new FormData();
    form.append('prompt', 'Think.');
    form.append('reasoning_effort', 'most');
    await expect(suna.send('POST', '/agent/initiate', form)).rejects.toThrow(/422.*reasoning_effort/);
    await expect(suna.send('GET', '/agents/any')).rejects.toThrow(/404.*\/v1\/agents/);
    const stranger = new SunaClient(
      () => deployment.client,
      () => 'rondo_wrong',
    );
    expect((await stranger.fetch('GET', '/threads')).status).toBe(401);
  });
});
