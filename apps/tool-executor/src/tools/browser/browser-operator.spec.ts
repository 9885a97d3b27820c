import { EventEmitter, once } from 'node:events';
import type { RequestListener } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { type BrowserAction, type BrowserScreen, browserAction, threadId } from '@rondo/contract';
import { BrowserOperator } from './browser-operator';
import { BrowserFixture } from './testing/browser-fixture';
import { pageServer } from './testing/browser-pages';

const place = (top: number) => `style="position:fixed;left:100px;top:${top}px;width:200px;height:40px"`;
const login = `<!doctype html><title>Login</title><form onsubmit="event.preventDefault();document.title='sent '+secret.value.length">
  <input id="name" ${place(100)}><input id="secret" type="password" ${place(200)}>
  <button type="button" ${place(300)} onclick="document.title='pressed'" ondblclick="document.title='twice'"
    oncontextmenu="document.title='right'">Press me</button><button hidden></button></form>`;
const wall = `<!doctype html><title>Wall</title><button ${place(100)} onclick="for(let n=0;n<40;n++)alert('no '+n);document.title='over'">Ask</button>
  <button ${place(200)} onclick="for(;;);">Hang</button>`;
const high = `<!doctype html><title>High</title><body style="height:9000px" onscroll="document.title='at '+scrollY">`;
const thread = threadId.parse('thr_one');
const slow = new EventEmitter<{ asked: []; answer: [] }>();
const pages: RequestListener = (request, response) => {
  const html = { '/login': login, '/wall': wall, '/high': high }[request.url ?? ''];
  if (html !== undefined) response.setHeader('content-type', 'text/html').end(html);
  else if (request.url === '/slow') {
    slow.once('answer', () => response.end('<title>Slow</title>'));
    slow.emit('asked');
  } else pageServer(request, response);
};

describe('a person in the browser of a sandbox', () => {
  let browser: BrowserFixture;
  let operator: BrowserOperator;

  beforeAll(async () => {
    browser = await BrowserFixture.open({ pages, hosts: { 'private.example': ['127.0.0.1'] } });
    operator = new BrowserOperator(browser.executor.turns);
  });
  afterAll(() => browser.close());

  const sandbox = () => browser.executor.sandbox(thread);
  const look = async () => operator.look(await sandbox());
  const act = async (action: { readonly type: BrowserAction['type'] } & Record<string, unknown>) =>
    operator.act(await sandbox(), thread, browserAction.parse(action));
  const agentOpens = (path: string) => browser.use('browser_navigate_to', { url: `${browser.site}${path}` });

  /** The screen as soon as its title is this one. */
  async function titled(title: RegExp): Promise<BrowserScreen> {
    for (;;) {
      const screen = await look();
      if (title.test(screen.title)) return screen;
      await delay(50);
    }
  }

  it('needs one that the agent has started', async () => {
    const refusal = { name: 'TunnelError', code: 'browser_not_running' };

    await expect(look()).rejects.toMatchObject(refusal);
    await expect(act({ type: 'back' })).rejects.toMatchObject(refusal);
  });

  it('sees the page as it is now', async () => {
    await agentOpens('/login');

    const { screenshot, ...screen } = await look();

    const url = `${browser.site}/login`;
    expect(screen).toEqual({
      ...{ url, title: 'Login', width: 1280, height: 800, notes: [], problem: null },
      tabs: [{ page_id: 1, url, title: 'Login', is_active: true }],
    });
    expect(
      Buffer.from(screenshot ?? '', 'base64')
        .subarray(0, 3)
        .toString('hex'),
    ).toBe('ffd8ff');
  });

  it('clicks, once, twice, and with another button', async () => {
    await agentOpens('/login');

    await expect(act({ type: 'click', x: 150, y: 320 })).resolves.toMatchObject({ title: 'pressed', problem: null });
    await expect(act({ type: 'click', x: 150, y: 320, count: 2 })).resolves.toMatchObject({ title: 'twice' });
    await expect(act({ type: 'click', x: 150, y: 320, button: 'right' })).resolves.toMatchObject({ title: 'right' });
    await expect(act({ type: 'click', x: 1280, y: 20 })).resolves.toMatchObject({
      problem: 'The screen is 1280 wide and 800 high.',
    });
  });

  it('types a password and presses keys; the agent learns neither', async () => {
    await agentOpens('/login');
    await act({ type: 'click', x: 150, y: 220 });
    await act({ type: 'text', text: 'wrong' });
    await act({ type: 'keys', keys: 'Control+a Delete' });

    await act({ type: 'text', text: 'correct-horse é' });
    await act({ type: 'keys', keys: 'Enter' });

    await expect(titled(/^sent/)).resolves.toMatchObject({ title: 'sent 15' });
    const seen = await browser.use('browser_wait', { seconds: 0 });
    expect(JSON.stringify({ ...seen, browser: { ...seen.browser, screenshot: null } })).not.toContain('correct-horse');
  });

  it('leaves the elements the numbers that the agent knows', async () => {
    const seen = await agentOpens('/login');
    expect(seen.output).toContain('[0]<input');

    await act({ type: 'click', x: 150, y: 320 });
    await browser.use('browser_input_text', { index: 0, text: 'Ada' });
    await act({ type: 'click', x: 150, y: 120 });

    expect((await browser.use('browser_wait', { seconds: 0 })).output).toContain('Ada');
  });

  it('scrolls, goes to pages and back, and between tabs', async () => {
    await act({ type: 'navigate', url: `${browser.site}/high` });
    await act({ type: 'scroll', dy: 400 });
    await titled(/^at [1-9]/);

    await act({ type: 'navigate', url: `${browser.site}/second` });
    await expect(act({ type: 'back' })).resolves.toMatchObject({ url: `${browser.site}/high`, problem: null });
    const tabs = (await look()).tabs.length;
    await browser.use('browser_open_new_tab');
    expect((await look()).tabs).toHaveLength(tabs + 1);
    await expect(act({ type: 'tab', page_id: 1 })).resolves.toMatchObject({ url: `${browser.site}/high` });
    await expect(act({ type: 'tab', page_id: 99 })).resolves.toMatchObject({ problem: expect.stringContaining('99') });
  });

  it.each(['file:///etc/passwd', 'chrome://crash', 'http://localhost:1/'])(
    'goes to %s no more than the agent',
    async (url) => {
      await expect(act({ type: 'navigate', url })).resolves.toMatchObject({ problem: expect.any(String) });
    },
  );

  it('reaches no private address by a name', async () => {
    browser.servers.canary.length = 0;

    await act({ type: 'navigate', url: `http://private.example:${browser.servers.port}/` });

    expect(browser.servers.canary).toEqual([]);
  });

  it('waits for the call of the agent, and is refused while that takes long; it sees the page meanwhile', async () => {
    await agentOpens('/login');
    const asked = once(slow, 'asked');
    const call = agentOpens('/slow');
    await asked;

    await expect(act({ type: 'text', text: 'in between' })).rejects.toMatchObject({ code: 'browser_busy' });
    await expect(look()).resolves.toMatchObject({ title: 'Login' });

    slow.emit('answer');
    await call;
    await expect(act({ type: 'keys', keys: 'Tab' })).resolves.toMatchObject({ problem: null });
  });

  it('sees that dialogs were dismissed', async () => {
    await agentOpens('/wall');

    const { notes } = await act({ type: 'click', x: 150, y: 120 });

    expect(notes[0]).toContain('no 0');
    expect(notes.length).toBeLessThanOrEqual(20);
    await titled(/^over$/);
  });

  it('sees nothing of a page that hangs, and acting on it ends the browser', async () => {
    await agentOpens('/wall');
    await expect(act({ type: 'click', x: 150, y: 220 })).rejects.toMatchObject({
      code: 'browser_not_running',
      message: expect.stringContaining('no longer responds'),
    });

    await expect(look()).rejects.toMatchObject({ code: 'browser_not_running' });
    await expect(agentOpens('/login')).resolves.toMatchObject({ success: true });
  });
});
