import { addAbortSignal } from 'node:stream';
import { type BrowserAction, type BrowserScreen, browserScreen } from '@rondo/contract';
import { type NatsLink, TunnelError, accessSandbox, readAnswer } from '@rondo/messaging';
import type { SandboxAddress, Sandboxes } from '@rondo/persistence';
import { ApiError } from '../problems/api-error';
import { asErrorOfNewer, unavailable } from './sandbox-errors';

type Question = { readonly op: 'browser_look' } | { readonly op: 'browser_act'; readonly action: BrowserAction };

interface BrowserAccessParts {
  readonly sandboxes: Pick<Sandboxes, 'get' | 'runningRun'>;
  readonly link: Promise<NatsLink>;
}

/** The executor ends every action before, with an error if need be. */
const answerWithinMs = 90_000;
/** A picture has less than a fourth of it. */
const maximumBytes = 8_000_000;

/** The browsers in sandboxes, seen and operated by people. */
export class BrowserAccess {
  private nats: NatsLink | undefined;

  constructor(private readonly parts: BrowserAccessParts) {
    void parts.link.then((link) => (this.nats = link));
  }

  look(address: SandboxAddress, client: AbortSignal): Promise<BrowserScreen> {
    return this.ask(address, { op: 'browser_look' }, client);
  }

  /** A person and the agent never act at once: Postgres knows what runs, and the executor lets each of their actions end. */
  async act(address: SandboxAddress, action: BrowserAction, client: AbortSignal): Promise<BrowserScreen> {
    const running = await this.parts.sandboxes.runningRun(address);
    if (running !== undefined)
      throw new ApiError(
        'browser_busy',
        `The run ${running} is running and may use the browser. Operate it while the run waits, or after it has ended.`,
      );
    return this.ask(address, { op: 'browser_act', action }, client);
  }

  private async ask(address: SandboxAddress, question: Question, client: AbortSignal): Promise<BrowserScreen> {
    const { threadId, executorId } = await this.parts.sandboxes.get(address);
    if (!this.nats) throw unavailable('NATS is away.');
    const request = { ...question, thread_id: threadId, account_id: address.accountId };
    const late = AbortSignal.timeout(answerWithinMs);
    try {
      const { tunnel } = await accessSandbox<Question['op']>(this.nats, { executorId, signal: client }, request);
      tunnel.end();
      return await screenFrom(addAbortSignal(late, tunnel));
    } catch (error) {
      throw late.aborted
        ? unavailable('The executor did not answer in time.')
        : asErrorOfNewer(error, 'shows no browsers');
    }
  }
}

async function screenFrom(tunnel: AsyncIterable<Uint8Array>): Promise<BrowserScreen> {
  const screen = browserScreen.safeParse(await readAnswer(tunnel, maximumBytes));
  if (screen.success) return screen.data;
  throw new TunnelError('unavailable', 'The executor answered what this version does not understand.');
}
