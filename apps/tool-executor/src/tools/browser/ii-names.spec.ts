import type { ExecutorResult } from '@rondo/contract';
import { BrowserFixture } from './testing/browser-fixture';

describe('the browser under the names of II-Agent', () => {
  let browser: BrowserFixture;
  let site: string;

  beforeAll(async () => {
    browser = await BrowserFixture.open();
    ({ site } = browser);
  });
  afterAll(() => browser.close());

  const use: BrowserFixture['use'] = (name, args) => browser.use(name, args);
  const indexOf = ({ output }: ExecutorResult, tag: string): number =>
    Number(new RegExp(`^\\[(\\d+)\\]<${tag}`, 'm').exec(output)?.[1]);

  it('opens pages, clicks, types and presses keys', async () => {
    await use('browser_navigation', { url: `${site}/form` });
    await expect(use('browser_enter_text', { text: 'x' })).resolves.toMatchObject({
      error: 'No field has the focus. Click one first.',
    });
    const clicked = await use('browser_click', { coordinate_x: 150, coordinate_y: 39 });
    expect(clicked.output).toContain('value="old">Name');
    await expect(use('browser_enter_text', { text: 'Ada' })).resolves.toMatchObject({ browser: { title: 'Ada' } });
    await expect(use('browser_press_key', { key: 'Backspace' })).resolves.toMatchObject({ browser: { title: 'Ad' } });
    await expect(use('browser_enter_text', { text: '' })).resolves.toMatchObject({
      output: expect.stringContaining('value="">Name'),
    });
    await use('browser_press_key', { key: 'Tab' });
    await use('browser_press_key', { key: 'Tab' });
    await expect(use('browser_enter_text', { text: 'notes', press_enter: true })).resolves.toMatchObject({
      browser: { title: 'entered' },
    });
  });

  it('lists options with their numbers and chooses one by its number', async () => {
    await use('browser_navigation', { url: `${site}/form` });
    const index = indexOf(await use('browser_view_interactive_elements'), 'select');

    await expect(use('browser_get_select_options', { index })).resolves.toMatchObject({
      output: expect.stringContaining('0: Red\n1: Green\n'),
    });
    await expect(use('browser_select_dropdown_option', { index, option: 1 })).resolves.toMatchObject({
      output: expect.stringContaining('Chose "Green"'),
      browser: { title: 'chose g' },
    });
    await expect(use('browser_select_dropdown_option', { index, option: 7 })).resolves.toMatchObject({
      error: 'There is no option 7.',
    });
    await expect(use('browser_select_dropdown_option', { index })).resolves.toMatchObject({
      error: expect.stringContaining('needs text or option'),
    });
  });

  it('opens tabs, switches between them, and starts again without them', async () => {
    await use('browser_restart', { url: `${site}/` });
    const opened = await use('browser_open_new_tab');
    expect(opened.browser?.tabs.map(({ page_id, is_active }) => [page_id, is_active])).toEqual([
      [1, false],
      [2, true],
    ]);
    await expect(use('browser_switch_tab', { index: 1 })).resolves.toMatchObject({ browser: { title: 'Start' } });
    await expect(use('browser_switch_tab', {})).resolves.toMatchObject({
      error: expect.stringContaining('needs page_id'),
    });
    const again = await use('browser_restart', { url: `${site}/second` });
    expect(again.browser).toMatchObject({ title: 'Second', tabs: [{ page_id: 1 }] });
  });
});
