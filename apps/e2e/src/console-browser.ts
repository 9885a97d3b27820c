import { readFileSync } from 'node:fs';
import { type RondoClient, RunningRondo } from '@rondo/test-deployment';
import { type Browser, type Page, chromium } from 'playwright-core';

const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

/** What lies where it cannot be seen: a page scrolls within the frame, and the names of cells stand beside these on a phone. */
const misplaced = `(() => {
  const { scrollWidth, scrollHeight } = document.documentElement;
  const cells = innerWidth > 720 ? [] : [...document.querySelectorAll('.table.cards td:not(:first-child)')];
  return [
    ...(scrollWidth > innerWidth ? ['wider than the screen'] : []),
    ...(document.querySelector('.shell') && scrollHeight > innerHeight ? ['higher than the screen'] : []),
    ...cells.filter((cell) => parseFloat(getComputedStyle(cell).paddingLeft) < 50).map(({ textContent }) => 'over its label: ' + textContent),
  ];
})()`;

/**
 * A page is looked at in both themes and on both screens, which are two looks of four. Which two changes with each page, so
 * what all pages share is looked at in all four.
 */
const looks = [
  [
    { colorScheme: 'light', width: 1280 },
    { colorScheme: 'dark', width: 390 },
  ],
  [
    { colorScheme: 'dark', width: 1280 },
    { colorScheme: 'light', width: 390 },
  ],
] as const;

/** A deployment, and a browser that has its console. */
export interface RunningConsole {
  readonly rondo: RunningRondo;
  readonly client: RondoClient;
  readonly browser: ConsoleBrowser;
  readonly page: Page;
}

type Request = Partial<Parameters<typeof RunningRondo.start>[0]>;

/** The browser is signed in. */
export async function startConsole(request: Request = {}): Promise<RunningConsole> {
  const rondo = await RunningRondo.start({
    instances: ['demo-model', 'tool-executor', 'agent-worker', 'gateway'],
    ...request,
  });
  return openConsole(rondo, rondo.client());
}

/** A browser of its own, signed in with the key of this client. */
export async function openConsole(rondo: RunningRondo, client: RondoClient): Promise<RunningConsole> {
  const browser = await ConsoleBrowser.start(rondo, client);
  await browser.signIn();
  return { rondo, client, browser, page: browser.page };
}

/** Expects that the policy of the page was never violated. */
export async function stopConsole({ rondo, browser }: Pick<RunningConsole, 'rondo' | 'browser'>): Promise<void> {
  try {
    await stopBrowser(browser);
  } finally {
    await rondo.stop();
  }
}

/** Expects that the policy of the page was never violated. */
export async function stopBrowser(browser: ConsoleBrowser): Promise<void> {
  await browser.close();
  expect(browser.violations).toEqual([]);
}

/** A real Chromium with the console of a deployment, which writes down what the page's policy refused. */
export class ConsoleBrowser {
  /** What the policy refused, and what was thrown. */
  readonly violations: string[] = [];
  private pagesLookedAt = 0;

  private constructor(
    private readonly browser: Browser,
    readonly page: Page,
    readonly client: RondoClient,
  ) {
    page.on('console', (message) => {
      if (/Content Security Policy|TrustedHTML/.test(message.text())) this.violations.push(message.text());
    });
    page.on('pageerror', (error) => this.violations.push(error.message));
  }

  static async start(rondo: RunningRondo, client: RondoClient): Promise<ConsoleBrowser> {
    const { BROWSER_PATH: executablePath } = rondo.infrastructure.env;
    if (executablePath === undefined) throw new Error('there is no Chromium');
    const browser = await chromium.launch({ executablePath });
    // Without motion: a dot that breathes costs a twentieth of a core for as long as a run is shown.
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce' });
    return new ConsoleBrowser(browser, page, client);
  }

  open(path: string): Promise<unknown> {
    return this.page.goto(`${this.client.url}${path}`);
  }

  /** With a link that works once. */
  async signIn(): Promise<void> {
    const { path } = await this.client.json<{ path: string }>('POST', '/session/links', {});
    await this.open(path);
    await this.page.getByRole('heading', { level: 1 }).waitFor();
  }

  /** Expects that the page of a run shows what its model has written first, and all of it. */
  async expectFirstReply(runId: string): Promise<void> {
    const [message] = (await this.client.facts(runId)).filter(
      ({ type, data }) => type === 'message.created' && data['message'].type === 'assistant',
    );
    const written: string = message?.data['message'].content[0].text;
    expect(await this.page.getByRole('article', { name: 'Agent' }).innerText()).toBe(written.trim());
  }

  /** It is evaluated by the browser's debugger, so the policy of the page stays in force. */
  async expectAccessible(what: string): Promise<void> {
    if (!(await this.page.evaluate('"axe" in window'))) await this.page.evaluate(axe);
    const options = JSON.stringify({ resultTypes: ['violations'], preload: false, selectors: false });
    const found = await this.page.evaluate<string[]>(`axe.run(${options}).then(({ violations }) =>
      violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html.slice(0, 120)).join(' | ')))`);
    expect([what, ...found]).toEqual([what]);
  }

  /** In both themes and on both screens axe finds nothing, and nothing lies beyond the screen or over its label. */
  async expectAccessibleInEveryLook(paths: readonly string[]): Promise<void> {
    for (const path of paths) {
      await this.open(path);
      await this.page.getByRole('heading', { level: 1 }).waitFor();
      await this.expectThisAccessibleInEveryLook(path);
    }
  }

  /** The same of what is open, without going anywhere. */
  async expectThisAccessibleInEveryLook(what: string): Promise<void> {
    const [wide, narrow] = this.pagesLookedAt % 2 === 0 ? looks[0] : looks[1];
    this.pagesLookedAt += 1;
    for (const { colorScheme, width } of [wide, narrow]) {
      await this.page.emulateMedia({ colorScheme });
      await this.page.setViewportSize({ width, height: 780 });
      const look = `${what}, ${colorScheme}, ${width}`;
      await this.expectAccessible(look);
      expect([look, ...(await this.page.evaluate<string[]>(misplaced))]).toEqual([look]);
    }
    await this.page.setViewportSize({ width: 1280, height: 800 });
  }

  async close(): Promise<void> {
    await this.browser.close();
  }
}
