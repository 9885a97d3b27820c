import { type Run, Rondo } from '@rondo/client';
import { parseHTML } from 'linkedom';
import { ScriptedGateway, sendJson } from '../../client/src/testing/scripted-gateway.ts';
import { type UseThreadOptions, type UsedThread, useThread } from './use-thread.ts';

/** What the test uses of a DOM, which Node has not. */
const { window } = parseHTML('<html><body><div id="page"></div></body></html>');
const { document } = window;
const location = new URL('http://localhost/');
Object.assign(globalThis, { window: Object.assign(window, { location }), document, navigator: { userAgent: '' } });

const run = (about: Partial<Run> = {}) => ({
  ...{ id: 'run_1', thread_id: 'thread_1', status: 'running', finish_reason: null, error: null, waiting: null },
  ...about,
});
const fact = (seq: number, type: string, data: object) =>
  `data: ${JSON.stringify({ id: `evt_${seq}`, seq, type, at: '2026-01-01T00:00:00Z', run_id: 'run_1', thread_id: 'thread_1', iteration: 1, data })}\n\n`;
const said = (id: string, type: string, text: string) => ({
  ...{ id, thread_id: 'thread_1', run_id: 'run_1', type, iteration: 1, is_llm_message: true, metadata: {} },
  content: [{ type: 'text', text }],
});
const page = (data: unknown[]) => ({ data, next_cursor: null });
const begun = [
  fact(1, 'run.created', {}),
  fact(2, 'message.created', { message: said('msg_1', 'user', 'Hello.') }),
  fact(3, 'run.started', {}),
];

let gateway: ScriptedGateway;
let sent: { path: string; body: unknown }[];
let runs: unknown[];
let facts: string[];
let stored: number;
/** Whether the next stream is refused, as of a key that was revoked for a while. */
let isRefused: boolean;
const approval = {
  id: 'apr_1',
  run_id: 'run_1',
  name: 'pay',
  arguments: { usd: 5 },
  arguments_hash: 'h',
  outcome: null,
};

/** Of that many stored messages, the newest first. */
function storedPage(url: string) {
  const query = new URL(url, 'http://localhost').searchParams;
  const from = Number(query.get('after') ?? 0);
  const to = Math.min(stored, from + Number(query.get('limit')));
  const data = Array.from({ length: to - from }, (_, index) => ({
    ...said(`old_${stored - from - index}`, 'user', 'Hello.'),
    run_id: 'run_0',
  }));
  return { data, next_cursor: to < stored ? String(to) : null };
}

beforeEach(async () => {
  [sent, runs, facts, stored, isRefused] = [[], [], begun, 0, false];
  gateway = await ScriptedGateway.start(({ method, url = '' }, response, body) => {
    const [path = ''] = url.split('?');
    if (method === 'POST') {
      sent.push({ path, body: JSON.parse(body) });
      if (path === '/v1/runs') runs = [run()];
      sendJson(response, 201, run());
    } else if (path === '/v1/runs') sendJson(response, 200, page(runs));
    else if (path === '/v1/threads/thread_1/messages') sendJson(response, 200, storedPage(url));
    else if (path === '/v1/approvals/apr_1') sendJson(response, 200, approval);
    else if (path.endsWith('/stream') && !isRefused) response.writeHead(200).write(facts.join(''));
    else sendJson(response, 404, { type: 'about:blank', title: 'Not Found', status: 404, code: 'not_found' });
  });
});
afterEach(() => gateway.close());

/** A page with one component that uses the thread, and what it was last rendered with. */
async function show(options: UseThreadOptions = {}) {
  const { createRoot } = await import('react-dom/client'); // it looks for the window when it is loaded
  const rondo = new Rondo({ ...gateway.options, retries: 0 });
  const root = createRoot(document.getElementById('page') as unknown as Parameters<typeof createRoot>[0]);
  let rendered = (_: UsedThread): void => undefined;
  const Component = (given: UseThreadOptions) => {
    const thread = useThread(rondo, given);
    rendered(thread);
    return <p>{thread.turns.length}</p>;
  };
  const until = (isSo: (thread: UsedThread) => boolean, changed: UseThreadOptions = options) =>
    new Promise<UsedThread>((resolve) => {
      rendered = (thread) => {
        if (isSo(thread)) resolve(thread);
      };
      root.render(<Component {...changed} />);
    });
  return { until, leave: () => root.unmount() };
}

const listTexts = ({ turns }: UsedThread) =>
  turns.flatMap(({ rows }) => rows.flatMap((row) => (row.kind === 'message' ? row.text : [])));

const listIds = ({ turns }: UsedThread) => turns.flatMap(({ rows }) => rows.map(({ id }) => id));

describe('useThread', () => {
  it('begins a thread with the first message, says so, and goes on with it when the page gives it back', async () => {
    const told: string[] = [];
    const options = { run: { model: 'demo/coder' }, onThread: (id: string) => told.push(id) };
    const { until, leave } = await show(options);
    const { send, threadId } = await until(() => true);
    expect(threadId).toBeNull();

    expect(await send('Hello.')).toBe('thread_1');

    expect(listTexts(await until((thread) => listTexts(thread).length > 0))).toEqual(['Hello.']);
    expect(told).toEqual(['thread_1']);
    const streams = () => gateway.requests.filter(({ url }) => url.endsWith('/stream')).length;
    const before = streams();
    const same = await until(({ isActive }) => isActive, { ...options, threadId: 'thread_1' });
    expect(listTexts(same)).toEqual(['Hello.']);
    expect(streams()).toBe(before);
    expect(sent).toEqual([{ path: '/v1/runs', body: { model: 'demo/coder', input: 'Hello.' } }]);
    leave();
  });

  it('says that older messages of a long thread are left out, and loads them when it is asked to', async () => {
    [runs, stored] = [[run({ status: 'completed' })], 2_001];
    const { until, leave } = await show({ threadId: 'thread_1' });
    const begun = await until(({ hasOlder }) => hasOlder);
    expect([listIds(begun).at(0), listIds(begun).includes('old_1')]).toEqual(['old_2', false]);

    const whole = until(({ hasOlder }) => !hasOlder);
    await begun.loadOlder();

    expect(listIds(await whole).slice(0, 2)).toEqual(['old_1', 'old_2']);
    leave();
  });

  it.each([
    ['tells the active run something', {}, 'steer'],
    ['begins a run after the active one with files, which a run at work does not get', { files: ['file_1'] }, 'queue'],
  ])('%s', async (_, about, onActiveRun) => {
    runs = [run()];
    const { until, leave } = await show({ threadId: 'thread_1' });
    const { send } = await until(({ isActive, live }) => isActive && live?.view.status === 'running');

    await send('In blue.', about);

    const body = { input: 'In blue.', thread_id: 'thread_1', on_active_run: onActiveRun };
    expect(sent).toEqual([{ path: '/v1/runs', body: expect.objectContaining(body) }]);
    leave();
  });

  it('answers the question of a run with the next message', async () => {
    runs = [run()];
    facts = [...begun, fact(4, 'run.waiting', { reason: 'ask', question: { text: 'Which colour?' } })];
    const { until, leave } = await show({ threadId: 'thread_1' });
    const { send } = await until(({ live }) => live?.view.waiting?.reason === 'ask');

    await send('Blue.');

    expect(sent).toEqual([{ path: '/v1/runs/run_1/input', body: { content: 'Blue.' } }]);
    leave();
  });

  it('approves exactly the arguments that are shown', async () => {
    runs = [run()];
    const asked = { approval_id: 'apr_1', tool_call_id: 'call_1', name: 'pay', requested_at: '', expires_at: '' };
    facts = [...begun, fact(4, 'run.waiting', { reason: 'approval', approvals: [asked] })];
    const { until, leave } = await show({ threadId: 'thread_1' });
    const { approvals, approve } = await until((thread) => thread.approvals.length > 0);
    const [shown] = approvals;

    if (shown) await approve(shown, { decision: 'deny', reason: 'Too much.' });

    expect(approvals).toMatchObject([{ arguments: { usd: 5 } }]);
    expect(sent).toMatchObject([{ body: { decision: 'deny', reason: 'Too much.', arguments_hash: 'h' } }]);
    leave();
  });

  it('goes on with a run whose events were refused for a while', async () => {
    [runs, isRefused] = [[run()], true];
    const { until, leave } = await show({ threadId: 'thread_1' });
    await until(({ live }) => live?.error != null);

    isRefused = false;
    const shown = await until(({ live }) => live?.error === null && live.isLive);

    expect(listTexts(shown)).toEqual(['Hello.']);
    leave();
  });

  it('says why a thread cannot be read', async () => {
    const { until, leave } = await show({ threadId: 'thread_2' });

    expect((await until(({ error }) => error !== null)).error).toMatchObject({ code: 'not_found' });
    leave();
  });
});
