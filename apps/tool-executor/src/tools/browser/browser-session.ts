import type { BrowserScreen } from '@rondo/contract';
import type { Sandbox } from '../../sandboxes';
import { BrowserLost, BrowserProblem, PageUnresponsive } from './browser-errors';
import type { CdpConnection } from './cdp-connection';
import { Downloads } from './downloads';
import { KeptLogins, type Sealing } from './kept-logins';
import { type BrowserProcess, killBrowser, launchBrowser } from './launch-browser';
import { type Observation, type PageDescription, pageDescription } from './page-state';
import { type Tab, viewport } from './tab';
import { Tabs } from './tabs';

/** How often a page is read that changes while it is read. */
const readings = 3;
const rereadMs = 1_000;
const maximumNotes = 20;

/** What an action may use. The text that it returns is for the model. */
export interface Page {
  readonly tab: Tab;
  readonly tabs: Tabs;
}
export type Action = (page: Page) => Promise<string>;

/** How an action ended. `observation` is missing only when the browser had to be ended. */
export interface ActionOutcome {
  readonly message: string;
  /** Why it failed. */
  readonly problem?: string;
  readonly observation?: Observation;
}

interface RunningBrowser {
  readonly process: BrowserProcess;
  readonly connection: CdpConnection;
  readonly logins: KeptLogins;
}

/** A browser in a sandbox: opened, acted with, observed after every action, and closed with all of its processes. */
export class BrowserSession {
  private readonly tabs: Tabs;
  private readonly downloads: Downloads;
  private notes: string[] = [];
  private closing: Promise<void> | undefined;
  isOpen = true;

  private constructor(
    private readonly sandbox: Sandbox,
    private readonly running: RunningBrowser,
  ) {
    const { connection } = running;
    const note = (text: string) => {
      if (this.notes.length < maximumNotes) this.notes.push(text);
    };
    this.tabs = new Tabs(connection, note);
    this.downloads = new Downloads(connection, note);
    void connection.closed.then(() => (this.isOpen = false));
  }

  /** Rejects with BrowserProblem when there is no browser, or when it does not start. */
  static async open(sandbox: Sandbox, run: string, box?: Sealing): Promise<BrowserSession> {
    const browser = await launchBrowser(sandbox, run);
    try {
      const connection = await browser.connect();
      const logins = new KeptLogins(sandbox, connection, box);
      const session = new BrowserSession(sandbox, { process: browser, connection, logins });
      await logins.restore();
      await Promise.all([session.tabs.start(), session.downloads.start()]);
      return session;
    } catch (error) {
      await killBrowser(sandbox, browser);
      throw error;
    }
  }

  /**
   * Acts on the active tab and looks at the result. A page that does not respond or has crashed ends the browser, since
   * nothing else is certain to end its scripts. Rejects with BrowserLost when the browser has ended during the action.
   */
  async act(action: Action): Promise<ActionOutcome> {
    let message = '';
    try {
      const performed = await this.perform(action);
      ({ message } = performed);
      const observation = await this.observe();
      await this.running.logins.keep();
      return { ...performed, observation };
    } catch (error) {
      if (error instanceof PageUnresponsive) return this.giveUp(message);
      if (error instanceof BrowserProblem) return this.leave(message);
      throw error;
    }
  }

  async observe(): Promise<Observation> {
    await this.downloads.settle();
    const tab = await this.tabs.active();
    if (tab.hasCrashed) throw new BrowserProblem('The page has crashed.');
    const description = await describe(tab);
    const screenshot = await tab.screenshot();
    const tabs = await Promise.all(
      this.tabs.all().map(async (each) => {
        const { url, title } = each === tab ? description : await each.info();
        return { page_id: each.id, url, title, is_active: each === tab };
      }),
    );
    return { ...description, screenshot, tabs, notes: this.notes };
  }

  /**
   * Acts on the active tab for a person. Resolves to why that failed. The elements keep their numbers, which the agent has
   * read. Rejects with BrowserLost when the browser has ended, or had to be ended as in `act`.
   */
  async operate(action: Action): Promise<string | undefined> {
    try {
      const { problem } = await this.perform(action);
      await this.running.logins.keep();
      return problem;
    } catch (error) {
      if (error instanceof PageUnresponsive) throw new BrowserLost((await this.giveUp('')).problem);
      throw error;
    }
  }

  /** What the active tab shows now. Asks nothing of the page's scripts, so it answers also while one does not end. */
  async look(): Promise<Omit<BrowserScreen, 'problem'>> {
    const active = await this.tabs.active();
    const [screenshot, tabs] = await Promise.all([
      active.screenshot(),
      Promise.all(
        this.tabs.all().map(async (tab) => ({ page_id: tab.id, ...(await readInfo(tab)), is_active: tab === active })),
      ),
    ]);
    const { url = '', title = '' } = tabs.find(({ is_active }) => is_active) ?? {};
    const notes = this.notes.map((note) => note.slice(0, 1_000));
    return { url, title, ...viewport, tabs, screenshot: screenshot ?? null, notes };
  }

  /** Ends the browser. Resolves when its processes are dead. */
  close(): Promise<void> {
    this.isOpen = false;
    this.running.connection.close();
    return (this.closing ??= killBrowser(this.sandbox, this.running.process));
  }

  /** Resolves to what the action says, or why it failed. Rejects with PageUnresponsive, or with BrowserLost. */
  private async perform(action: Action): Promise<{ message: string; problem?: string }> {
    this.notes = [];
    try {
      const tab = await this.tabs.active();
      return { message: await Promise.race([action({ tab, tabs: this.tabs }), this.lost()]) };
    } catch (error) {
      if (error instanceof BrowserProblem) return { message: '', problem: error.message };
      throw error;
    }
  }

  /** Puts an empty page in the place of one that cannot be read. */
  private async leave(message: string): Promise<ActionOutcome> {
    try {
      const tab = await this.tabs.active();
      if (tab.hasCrashed) return await this.giveUp(message);
      await tab.navigate('about:blank');
      const problem = 'The page changes all the time, so that it cannot be read. It was left.';
      return { message, problem, observation: await this.observe() };
    } catch (error) {
      if (error instanceof BrowserLost) throw error;
      return this.giveUp(message);
    }
  }

  private async lost(): Promise<never> {
    await this.running.connection.closed;
    throw new BrowserLost();
  }

  private async giveUp(message: string): Promise<ActionOutcome> {
    await this.close();
    const problem =
      'The page crashed or no longer responds, so the browser was ended. The next call starts it again, without its tabs.';
    return { message, problem };
  }
}

/** Empty for a tab that closes or does not respond. */
async function readInfo(tab: Tab): Promise<{ url: string; title: string }> {
  return tab.info().catch((error: unknown) => {
    if (error instanceof PageUnresponsive || error instanceof BrowserProblem) return { url: '', title: '' };
    throw error;
  });
}

async function describe(tab: Tab): Promise<PageDescription> {
  for (let reading = 1; ; reading += 1) {
    try {
      return await tab.call('describe', [], pageDescription);
    } catch (error) {
      if (!(error instanceof BrowserProblem) || reading === readings || tab.hasCrashed) throw error;
      await tab.settle(rereadMs); // It was leaving the page.
    }
  }
}
