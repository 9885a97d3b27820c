import { type Sandbox, SandboxError } from '../../sandboxes';
import { OutcomeUnknown, type ToolContext } from '../tool-handler';
import { BrowserLost, BrowserProblem } from './browser-errors';
import { type ActionOutcome, type Action, BrowserSession } from './browser-session';

/** The mutex key of all that acts in the browser of a thread. */
export const browserTurn = 'browser';

/** The browser of each sandbox, for as long as the sandbox is in use. */
const sessions = new WeakMap<Sandbox, BrowserSession>();

/**
 * Acts with the browser of the sandbox, which is started at its first use and after it has ended. Calls must take turns.
 * Rejects with BrowserProblem when no browser can be started, and with OutcomeUnknown when it ended during the action.
 */
export async function inBrowser(context: ToolContext, action: Action): Promise<ActionOutcome> {
  const { sandbox, signal, runId, services } = context;
  const session = await openSession(sandbox, runId, services.box);
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped = session.close();
  };
  signal.addEventListener('abort', stop, { once: true });
  try {
    if (signal.aborted) stop();
    const acted = await session.act(action);
    signal.throwIfAborted();
    return acted;
  } catch (error) {
    await stopped;
    signal.throwIfAborted();
    if (!(error instanceof BrowserLost)) throw error;
    await session.close();
    throw new OutcomeUnknown('The browser ended during the action. The next call starts it again, without its tabs.');
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** Ends the browser of the sandbox, if it has one. The next action starts another. */
export async function endBrowser(sandbox: Sandbox): Promise<void> {
  await sessions.get(sandbox)?.close();
}

/** The browser of the sandbox. Undefined where none runs: nothing is started. */
export function runningBrowser(sandbox: Sandbox): BrowserSession | undefined {
  const session = sessions.get(sandbox);
  return session?.isOpen === true ? session : undefined;
}

async function openSession(
  sandbox: Sandbox,
  run: string,
  box: ToolContext['services']['box'],
): Promise<BrowserSession> {
  const known = runningBrowser(sandbox);
  if (known) return known;
  try {
    const session = await BrowserSession.open(sandbox, run, box);
    sessions.set(sandbox, session);
    return session;
  } catch (error) {
    if (error instanceof BrowserLost) throw new BrowserProblem('The browser ended while it was started.');
    if (!(error instanceof SandboxError) || (error.code !== 'unsupported' && error.code !== 'not_listening'))
      throw error;
    throw new BrowserProblem(`There is no browser: ${error.message}`);
  }
}
