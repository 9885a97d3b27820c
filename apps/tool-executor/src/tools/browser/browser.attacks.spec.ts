import type { RequestListener } from 'node:http';
import type { ExecutorFixture } from '../../testing/executor-fixture';
import type { TestServers } from '../../testing/test-servers';
import { BrowserFixture } from './testing/browser-fixture';
import { pageServer } from './testing/browser-pages';

/** As an attacker's name server would answer. */
const hosts = { 'private.example': ['127.0.0.1'], 'metadata.example': ['169.254.169.254'] };

describe('attack: browser', () => {
  let browser: BrowserFixture;
  let fixture: ExecutorFixture;
  let servers: TestServers;
  let site: string;

  beforeAll(async () => {
    const pages: RequestListener = (request, response) => {
      const url = new URL(request.url ?? '/', 'http://any');
      const [to, script] = [url.searchParams.get('to'), url.searchParams.get('script')];
      if (to !== null) response.writeHead(302, { location: to }).end();
      else if (script !== null)
        response.setHeader('content-type', 'text/html').end(`<title>page</title><script>${script}</script>`);
      else pageServer(request, response);
    };
    browser = await BrowserFixture.open({ pages, hosts });
    ({ executor: fixture, servers, site } = browser);
  });
  afterAll(() => browser.close());

  const use: BrowserFixture['use'] = (name, args) => browser.use(name, args);
  const open = (url: string) => use('browser_navigate_to', { url });
  const openScript = (script: string) => open(`${site}/?script=${encodeURIComponent(script)}`);
  const stillWorks = () =>
    expect(open(`${site}/`)).resolves.toMatchObject({ success: true, browser: { title: 'Start' } });
  /** The title that a script of a public page has set, once it did. */
  const titleAfter = async (script: string): Promise<string | undefined> => {
    await openScript(script);
    return (await use('browser_wait', { seconds: 1 })).browser?.title;
  };

  it.each([
    ['the loopback of the machine', () => `http://127.0.0.1:${servers.port}/`],
    ['a name for the loopback of the machine', () => `http://private.example:${servers.port}/`],
    ['the metadata of a cloud', () => 'http://169.254.169.254/latest/meta-data/'],
    ['a name for the metadata of a cloud', () => 'http://metadata.example/latest/meta-data/'],
    ['a private address', () => 'http://10.0.0.1/'],
  ])('a page that leads to %s, by its address and by a redirect', async (_, url) => {
    servers.canary.length = 0;
    await expect(open(url())).resolves.toMatchObject({ success: false });
    await expect(open(`${site}/?to=${encodeURIComponent(url())}`)).resolves.toMatchObject({ success: false });
    const fetched = await titleAfter(
      `fetch('${url()}',{mode:'no-cors'}).then(r=>document.title='read',()=>document.title='refused')`,
    );

    expect(fetched).not.toBe('page'); // The proxy's refusal is an answer too, whose text no script can read.
    expect(servers.canary).toEqual([]);
  });

  it('a page that reads files', async () => {
    const frame = `const f=document.createElement('iframe');f.src='file:///etc/passwd';document.body?.append(f);`;
    const script = `${frame}fetch('file:///etc/passwd').then(r=>r.text()).then(t=>document.title=t,()=>document.title='refused')`;

    await expect(titleAfter(script)).resolves.toBe('refused');
    await expect(titleAfter(`location='file:///etc/passwd'`)).resolves.toBe('page');
  });

  it('a page that takes over the DevTools of its browser', async () => {
    await open(`${site}/`);
    const command = 'head -1 /tmp/browser/profile/DevToolsActivePort';
    const port = Number((await fixture.use('execute_command', { command, blocking: true })).output.split('\n')[0]);
    expect(port).toBeGreaterThan(0);
    const read = `fetch('http://127.0.0.1:${port}/json/version').then(r=>r.text()).then(t=>document.title=t,()=>document.title='refused')`;
    const dial = `const w=new WebSocket('ws://127.0.0.1:${port}/devtools/browser/x');w.onopen=()=>document.title='open';w.onerror=()=>document.title='refused'`;

    await expect(titleAfter(read)).resolves.toBe('refused');
    await expect(titleAfter(dial)).resolves.toBe('refused');
  });

  it('a page that redirects without end', async () => {
    await expect(open(`${site}/circle`)).resolves.toMatchObject({
      error: expect.stringMatching(/redirects without end/),
    });
    await stillWorks();
  });

  it('a page that never answers', async () => {
    await expect(open(`${site}/silent`)).resolves.toMatchObject({
      error: expect.stringContaining('did not answer within 15 s'),
    });
    await stillWorks();
  });

  it.each([
    ['while it loads', () => open(`${site}/hanging`)],
    ['after a click', () => open(`${site}/hang`).then(() => use('browser_click_element', { index: 0 }))],
  ])('a page whose script does not end %s', async (_, hang) => {
    await expect(hang()).resolves.toMatchObject({
      success: false,
      error: expect.stringContaining('no longer responds'),
    });
    await stillWorks();
  });

  it('a page that opens itself again all the time', async () => {
    const { error } = await open(`${site}/restless`);
    // Which of these it is depends on the speed of the machine. All are answers, after which the browser works.
    expect(error ?? 'read between two changes').toMatch(/read between|It was left|no longer responds/);
    await stillWorks();
  });

  it('a page with thousands of elements, and one with 30 MB of text', async () => {
    const crowd = await open(`${site}/crowd`);
    expect(crowd.output).toContain('more than can be listed');
    expect(crowd.output.length).toBeLessThan(20_000);

    const huge = await open(`${site}/huge`);
    expect(huge.output.length).toBeLessThan(20_000);
    await stillWorks();
  });

  it('a page that opens pop-ups without end', async () => {
    const page = await openScript(`setInterval(()=>open('/second'),5)`);
    expect(page.browser?.tabs.length ?? 0).toBeLessThanOrEqual(10);
    const { browser } = await use('browser_wait', { seconds: 1 });
    expect(browser?.tabs.length ?? 0).toBeLessThanOrEqual(10);
    await use('browser_restart', { url: `${site}/` });
    await stillWorks();
  });

  it('a page that shows dialogs without end, and one that asks not to be left', async () => {
    const page = await openScript(`setInterval(()=>alert('stay'),5)`);
    expect(page.output).toContain('which was dismissed: stay');
    const left = await open(`${site}/`); // such a page may hang
    expect(left.error ?? 'no longer responds').toContain('no longer responds');
    await stillWorks();

    await openScript(`onbeforeunload=(e)=>{e.preventDefault();e.returnValue='stay'}`);
    await use('browser_click_coordinates', { x: 5, y: 5 }); // a page may ask only after it was used
    await stillWorks();
  });

  it('a page that downloads without end', async () => {
    const told = /endless.* (is still being downloaded|was cancelled)/;
    let said = (await openScript(`setInterval(()=>{location='/endless.bin?'+Math.random()},300)`)).output;
    for (let left = 20; left > 0 && !told.test(said); left -= 1)
      said += (await use('browser_wait', { seconds: 1 })).output;
    expect(said).toMatch(told);
    await use('browser_restart', { url: `${site}/` });
    await stillWorks();
  });

  it('a page that replaces what the reader of pages uses', async () => {
    const page = await open(`${site}/hostile`);

    expect(page).toMatchObject({ success: true, browser: { url: `${site}/hostile`, title: 'Hostile' } });
    expect(page.output).toContain('[0]<button>Real</button>');
  });
});
