import type { ExecutorResult } from '@rondo/contract';
import { type ExecutorFixture, aCall } from '../../testing/executor-fixture';
import { BrowserFixture } from './testing/browser-fixture';

describe('the browser', () => {
  let browser: BrowserFixture;
  let fixture: ExecutorFixture;
  let site: string;

  beforeAll(async () => {
    browser = await BrowserFixture.open();
    ({ executor: fixture, site } = browser);
  });
  afterAll(() => browser.close());

  const use: BrowserFixture['use'] = (name, args) => browser.use(name, args);
  const open = (path: string) => use('browser_navigate_to', { url: `${site}${path}` });
  /** The number of the element whose line in the answer has the text. */
  const readNumber = ({ output }: ExecutorResult, text: string): number => {
    const line = output.split('\n').find((each) => each.startsWith('[') && each.includes(text));
    if (line === undefined) throw new Error(`no element with ${text} in:\n${output}`);
    return Number(/^\[(\d+)\]/.exec(line)?.[1]);
  };
  const click = async (page: ExecutorResult, text: string) =>
    use('browser_click_element', { index: readNumber(page, text) });

  it('opens a page and shows its text and its elements, those that can be used only', async () => {
    const page = await open('/');

    expect(page.success).toBe(true);
    expect(page.output).toBe(
      [
        `Opened ${site}/.`,
        `URL: ${site}/`,
        'Title: Start',
        '0 pixels above the screen, 0 below it.',
        '',
        'Welcome',
        'A paragraph with \\[7]<button> in it.',
        '[0]<a href="/second">Second page</a>',
        '[1]<button>Press me</button>',
        'Disabled',
      ].join('\n'),
    );
    expect(page.browser).toMatchObject({ url: `${site}/`, title: 'Start', screenshot: { media_type: 'image/jpeg' } });
    expect(page.browser).toMatchObject({ element_count: 2, viewport_width: 1280, viewport_height: 800 });
    expect(
      Buffer.from(page.browser?.screenshot?.data ?? '', 'base64')
        .subarray(0, 2)
        .toString('hex'),
    ).toBe('ffd8');
  });

  it('clicks elements by number and points by coordinates, and goes back', async () => {
    const start = await open('/');
    await expect(click(start, 'Press me')).resolves.toMatchObject({ browser: { title: 'pressed' } });
    await expect(click(start, 'Second page')).resolves.toMatchObject({ browser: { title: 'Second' } });
    await expect(use('browser_go_back')).resolves.toMatchObject({ browser: { title: 'Start' } });

    await open('/popup');
    await expect(use('browser_click_coordinates', { x: 30, y: 18 })).resolves.toMatchObject({
      output: expect.stringContaining('was opened by tab'),
      browser: { title: 'Second' },
    });
    await expect(use('browser_click_coordinates', { x: 5_000, y: 18 })).resolves.toMatchObject({
      error: 'The screen is 1280 wide and 800 high.',
    });
  });

  it('types into fields and presses keys', async () => {
    const form = await open('/form');
    expect(form.output).not.toContain('hunter2');

    const index = readNumber(form, 'Name');
    await expect(use('browser_input_text', { index, text: 'Ada (é) 1' })).resolves.toMatchObject({
      browser: { title: 'Ada (é) 1' },
    });
    await expect(use('browser_send_keys', { keys: 'Backspace Shift+X y' })).resolves.toMatchObject({
      browser: { title: 'Ada (é) Xy' },
    });
    await use('browser_input_text', { index: readNumber(form, 'notes'), text: 'many words '.repeat(50) });
    await expect(use('browser_send_keys', { keys: 'Enter' })).resolves.toMatchObject({ browser: { title: 'entered' } });
    await expect(use('browser_input_text', { index, text: '' })).resolves.toMatchObject({
      output: expect.stringContaining('value="">Name'),
    });
    await expect(use('browser_send_keys', { keys: 'Hyper+q' })).resolves.toMatchObject({
      error: expect.stringContaining('There is no key "Hyper+q"'),
    });
  });

  it('lists and chooses the options of a dropdown list', async () => {
    const form = await open('/form');
    const index = readNumber(form, 'select');

    await expect(use('browser_get_dropdown_options', { index })).resolves.toMatchObject({
      output: expect.stringContaining('0: Red\n1: Green\n'),
    });
    await expect(use('browser_select_dropdown_option', { index, text: 'Green' })).resolves.toMatchObject({
      browser: { title: 'chose g' },
    });
    await expect(use('browser_select_dropdown_option', { index, text: 'Blue' })).resolves.toMatchObject({
      error: 'There is no option "Blue".',
    });
    await expect(click(form, '<select')).resolves.toMatchObject({ success: false });
    await expect(use('browser_get_dropdown_options', { index: readNumber(form, 'Name') })).resolves.toMatchObject({
      error: expect.stringContaining('is no dropdown list'),
    });
  });

  it('scrolls, and says how much is left', async () => {
    await expect(open('/long')).resolves.toMatchObject({ browser: { pixels_above: 0 } });
    const down = await use('browser_scroll_down', { amount: 300 });
    expect(down.browser?.pixels_above).toBe(300);
    await expect(use('browser_scroll_up')).resolves.toMatchObject({ browser: { pixels_above: 0 } });
    await expect(use('browser_scroll_up')).resolves.toMatchObject({
      output: expect.stringContaining('Nothing is left in that direction.'),
    });

    const found = await use('browser_scroll_to_text', { text: 'the BOTTOM' });
    expect(found.output).toContain('The bottom.');
    expect(found.output).not.toContain('The top.');
    await expect(use('browser_scroll_to_text', { text: 'nowhere' })).resolves.toMatchObject({
      error: 'The text "nowhere" is not on the page.',
    });
  });

  it('uses elements in open shadow roots and in frames of the same origin', async () => {
    const page = await open('/shadow');

    await expect(click(page, 'In the shadow')).resolves.toMatchObject({ browser: { title: 'in shadow' } });
    await expect(click(page, 'In the frame')).resolves.toMatchObject({ browser: { title: 'in frame' } });
  });

  it('lists no element that is covered', async () => {
    const page = await open('/covered');

    expect(page.output).toContain('On top');
    expect(page.output).not.toContain('Under it</button>');
  });

  it('switches and closes tabs, and always has one', async () => {
    const opener = await open('/popup');
    const popup = await click(opener, 'Open');
    const ids = popup.browser?.tabs.map(({ page_id }) => page_id) ?? [];
    const [last = 0] = ids.slice(-1);
    const [before = 0] = ids.slice(-2);

    await expect(use('browser_switch_tab', { page_id: before })).resolves.toMatchObject({
      browser: { title: 'Opener' },
    });
    await expect(use('browser_close_tab', { page_id: last })).resolves.toMatchObject({ browser: { title: 'Opener' } });
    await expect(use('browser_switch_tab', { page_id: last })).resolves.toMatchObject({
      error: expect.stringMatching(/^There is no tab/),
    });
    for (const page_id of ids.slice(0, -1)) await use('browser_close_tab', { page_id });
    await expect(use('browser_wait', { seconds: 0 })).resolves.toMatchObject({ browser: { url: 'about:blank' } });
  });

  it('dismisses dialogs and reports them', async () => {
    const page = await open('/dialog');

    await expect(click(page, 'Confirm')).resolves.toMatchObject({
      output: expect.stringContaining('The page showed a dialog (confirm), which was dismissed: Really?'),
      browser: { title: 'answer false' },
    });
  });

  it('drags what pages let be dragged, and moves the mouse otherwise', async () => {
    const page = await open('/drag');
    const ends = { element_source: readNumber(page, 'Take me'), element_target: readNumber(page, 'Drop here') };

    await expect(use('browser_drag_drop', ends)).resolves.toMatchObject({ browser: { title: 'got apple' } });
    await open('/drag');
    const points = { coord_source_x: 60, coord_source_y: 60, coord_target_x: 60, coord_target_y: 140 };
    await expect(use('browser_drag_drop', points)).resolves.toMatchObject({ browser: { title: 'got apple' } });
    await expect(use('browser_drag_drop', { element_source: 1 })).resolves.toMatchObject({ success: false });
  });

  it('puts downloads into the workspace', async () => {
    const page = await open('/files');

    await expect(click(page, 'Report')).resolves.toMatchObject({
      output: expect.stringContaining('Downloaded /workspace/downloads/report.txt.'),
    });
    await expect(fixture.use('read_file', { file_path: 'downloads/report.txt' })).resolves.toMatchObject({
      output: expect.stringContaining('the report'),
    });
  });

  it('reaches servers in its own sandbox, and pages in the workspace', async () => {
    const server = `require('http').createServer((_, r) => r.end('<!doctype html><title>Inside</title>')).listen(8080, () => console.log('ready'))`;
    await fixture.use('execute_command', {
      command: `node -e "${server}" & until curl -s localhost:8080; do :; done`,
      blocking: true,
    });
    await fixture.use('create_file', { file_path: 'page.html', file_contents: '<title>File</title>' });

    const inside = await use('browser_navigate_to', { url: 'localhost:8080' });
    expect(inside).toMatchObject({ success: false }); // Without a scheme it is https, as in an address bar.
    for (const url of ['http://localhost:8080/', 'http://127.0.0.1:8080/', 'http://[::1]:8080/']) {
      await expect(use('browser_navigate_to', { url })).resolves.toMatchObject({ browser: { title: 'Inside' } });
    }
    const file = await use('browser_navigate_to', { url: 'file:///workspace/page.html' });
    expect(file.browser?.title).toBe('File');
  });

  it.each([
    ['whose host does not exist', 'http://nowhere.example/', /returned status 403/],
    ['that does not exist', '/missing', /returned status 404/],
    ['at which no process listens', 'http://localhost:4999/', /nothing listens there/],
  ])('reports a page %s', async (_, address, error) => {
    const url = address.startsWith('/') ? `${site}${address}` : address;
    await expect(use('browser_navigate_to', { url })).resolves.toMatchObject({
      success: false,
      error: expect.stringMatching(error),
    });
    await expect(open('/')).resolves.toMatchObject({ success: true });
  });

  it.each([
    'chrome://crash',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'data:text/html,x',
    'file:///workspace/../etc/passwd',
  ])('refuses to open %s', async (url) => {
    await expect(use('browser_navigate_to', { url })).resolves.toMatchObject({
      error: expect.stringContaining('is not a page'),
    });
  });

  it('a browser that is killed leaves the outcome unknown, and the next call starts it again', async () => {
    await open('/');
    const waiting = fixture.reply(aCall('browser_wait', { seconds: 20 }));
    await fixture.use('execute_command', { command: 'sleep 0.5; pkill -KILL chromium', blocking: true });

    await expect(waiting).resolves.toMatchObject({
      how: 'unknown',
      reason: expect.stringContaining('The browser ended'),
    });
    await expect(open('/')).resolves.toMatchObject({ success: true, browser: { title: 'Start' } });
  });

  it('a stop of the run ends the browser', async () => {
    await open('/');
    const stop = new AbortController();
    const waiting = fixture.reply(aCall('browser_wait', { seconds: 20 }), { signal: stop.signal });
    setTimeout(() => stop.abort(), 300);

    await expect(waiting).resolves.toMatchObject({ how: 'stopped', verified_dead_at: expect.any(String) });
    const left = await fixture.use('execute_command', { command: 'pgrep -c chromium', blocking: true });
    expect(left).toMatchObject({ exit_code: 1 });
  });

  it('stays as it is from one call to the next', async () => {
    await open('/');
    await expect(use('browser_wait', { seconds: 0.1 })).resolves.toMatchObject({ browser: { title: 'Start' } });
  });
});
