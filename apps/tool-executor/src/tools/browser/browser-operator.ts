import type { BrowserAction, BrowserScreen, ThreadId } from '@rondo/contract';
import { TunnelError } from '@rondo/messaging';
import type { KeyedMutex } from '@rondo/platform';
import type { Sandbox } from '../../sandboxes';
import { BrowserLost, BrowserProblem, PageUnresponsive } from './browser-errors';
import type { Action, BrowserSession } from './browser-session';
import { browserTurn, runningBrowser } from './browsers';
import { click, onScreen, press, turnWheel, typeText } from './input';
import { keyPresses } from './keys';
import { toTurn } from '../tool-handler';

/** A call of the agent is mostly over by then; one that is not may take minutes. */
const turnWaitMs = 3_000;
/** The picture goes on changing afterwards, and is looked at again. */
const settleMs = 1_500;

/**
 * A person in the browser of a sandbox: looks at it at any time, and acts in it between the calls of the agent, which have
 * the same turns. What the person types is in no message, log line or error that comes from here.
 */
export class BrowserOperator {
  constructor(private readonly turns: KeyedMutex) {}

  /** Rejects with TunnelError `browser_not_running`. */
  look(sandbox: Sandbox): Promise<BrowserScreen> {
    return translateFailures(async () => ({ ...(await toSession(sandbox).look()), problem: null }));
  }

  /** Resolves to what is seen then. Rejects with TunnelError: `browser_not_running`, or `browser_busy` while the agent acts. */
  async act(sandbox: Sandbox, threadId: ThreadId, action: BrowserAction): Promise<BrowserScreen> {
    toSession(sandbox); // without one there is nothing to wait for
    const signal = AbortSignal.timeout(turnWaitMs);
    const perform = async () => {
      const session = toSession(sandbox);
      const problem = await session.operate(performed(action));
      return { ...(await session.look()), problem: problem?.slice(0, 2_000) ?? null };
    };
    try {
      return await this.turns.run(toTurn(threadId, browserTurn), () => translateFailures(perform), signal);
    } catch (error) {
      if (!signal.aborted || error !== signal.reason) throw error;
      throw new TunnelError('browser_busy', 'The agent is using the browser. Try again when it has finished.');
    }
  }
}

function toSession(sandbox: Sandbox): BrowserSession {
  const session = runningBrowser(sandbox);
  if (session) return session;
  throw notRunning("No browser runs in this sandbox. The agent's next use of it starts one.");
}

const notRunning = (message: string) => new TunnelError('browser_not_running', message);

async function translateFailures(work: () => Promise<BrowserScreen>): Promise<BrowserScreen> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof BrowserLost) throw notRunning(error.message);
    if (error instanceof PageUnresponsive || error instanceof BrowserProblem)
      throw new TunnelError('unavailable', 'The browser does not respond. Try again.');
    throw error;
  }
}

const performed =
  (action: BrowserAction): Action =>
  async (page) => {
    await perform(action, page);
    await page.tab.settle(settleMs);
    return '';
  };

async function perform(action: BrowserAction, { tab, tabs }: Parameters<Action>[0]): Promise<void> {
  switch (action.type) {
    case 'click':
      return click(tab, onScreen(action), action);
    case 'text':
      return typeText(tab, action.text);
    case 'keys':
      for (const keyPress of keyPresses(action.keys)) await press(tab, keyPress);
      return;
    case 'scroll':
      return turnWheel(tab, onScreen(action), action);
    case 'navigate':
      return tab.navigate(reachable(action.url));
    case 'back':
      if (!(await tab.goBack())) throw new BrowserProblem('There is no page before this one.');
      return;
    case 'tab':
      return tabs.activate(tabs.find(action.page_id));
  }
}

/** Refuses the browser's own pages, such as chrome://crash, and files outside the workspace. */
export function reachable(url: string): string {
  const given = /^[a-z][a-z0-9+.-]*:/i.test(url) && !/^[\w.-]+:\d+(\/|$)/.test(url) ? url : `https://${url}`;
  const parsed = URL.canParse(given) ? new URL(given) : undefined;
  const isWeb = parsed?.protocol === 'http:' || parsed?.protocol === 'https:';
  const isFile = parsed?.protocol === 'file:' && parsed.pathname.startsWith('/workspace/');
  if (!parsed || !(isWeb || isFile)) {
    throw new BrowserProblem(`${url.slice(0, 200)} is not a page: use http, https, or file:///workspace/….`);
  }
  return parsed.href;
}
