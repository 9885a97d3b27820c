import type { RondoClient } from '@rondo/test-deployment';
import type { Page } from 'playwright-core';
import { type ConsoleBrowser, stopBrowser } from '../console-browser';
import { ordinaryConsole } from '../shared-deployment';

/** In place of the desktop's: Chromium without a screen shows none. A page is hidden once `isAway` says so. */
const desktop = `
  window.Notification = class {
    static permission = 'granted';
    static requestPermission = async () => 'granted';
    constructor(title, { body }) { void window.tell(title + ': ' + body); }
  };
  Object.defineProperty(document, 'hidden', { get: () => window.isAway === true });`;

describe('notifications of the console', () => {
  let client: RondoClient;
  let browser: ConsoleBrowser;
  let page: Page;

  beforeAll(async () => {
    ({ client, browser, page } = await ordinaryConsole());
  });

  afterAll(async () => {
    await stopBrowser(browser);
  });

  /** Resolves when the newest run was looked at again. */
  const lookedAt = () =>
    page.waitForResponse((response) => {
      const { pathname, searchParams } = new URL(response.url());
      return pathname === '/v1/runs' && searchParams.get('limit') === '1';
    });

  it('tell that a run waits while something else is looked at, once they are wanted', async () => {
    let tell: (text: string) => void = () => undefined;
    const told = new Promise<string>((resolve) => (tell = resolve));
    await page.exposeFunction('tell', (text: string) => tell(text));
    await page.addInitScript(desktop);
    const first = await client.createRun({ model: 'demo/plain', input: 'Say hello.' });
    await client.waitForRun(first.id);
    await browser.open(`/console/threads/${first.thread_id}`);
    await page.getByRole('log', { name: 'Conversation' }).getByText('Say hello.', { exact: true }).waitFor();
    const looked = lookedAt();
    const button = page.getByRole('button', { name: 'Notify me' });
    await button.click();
    await looked;
    expect(await button.getAttribute('aria-pressed')).toBe('true');

    await page.evaluate('window.isAway = true');
    const run = await client.createRun({ thread_id: first.thread_id, model: 'demo/ask', input: 'Paint the shed.' });
    await client.waitForRun(run.id);
    expect(await told).toBe('Say hello.: Which colour shall the bicycle shed have?');
  });

  it('are not offered any longer where the browser shows none of a page, whose text stays', async () => {
    await page.addInitScript('Notification = class extends Notification { constructor() { throw new TypeError(); } }');
    const run = await client.createRun({ model: 'demo/ask', input: 'Paint the gate.' });
    await client.waitForRun(run.id);
    await browser.open(`/console/threads/${run.thread_id}`);
    const field = page.getByRole('textbox', { name: 'Your answer' });
    await field.fill('Green, I th');
    const button = page.getByRole('button', { name: 'Notify me' });
    expect(await button.getAttribute('aria-pressed')).toBe('true'); // as this browser was told before
    await lookedAt();
    await page.evaluate('window.isAway = true');
    await client.request('POST', `/runs/${run.id}/stop`, {});

    await button.waitFor({ state: 'detached' });
    expect(await page.getByRole('textbox', { name: 'Message' }).inputValue()).toBe('Green, I th');
  });
});
