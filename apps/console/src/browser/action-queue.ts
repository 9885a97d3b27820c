import type { BrowserAction, BrowserScreen } from '@rondo/client';

interface QueueParts {
  readonly send: (action: BrowserAction) => Promise<BrowserScreen>;
  readonly shown: (screen: BrowserScreen) => void;
  readonly failed: (error: unknown) => void;
}

/** As much as one action may have. */
const longestText = 4_000;
const longestKeys = 200;
const farthestScroll = 10_000;

/** Sends what a person does one after the other; what comes meanwhile is put together. After a failure the rest is given up. */
export class ActionQueue {
  private waiting: BrowserAction[] = [];
  private isSending = false;

  constructor(private readonly parts: QueueParts) {}

  add(action: BrowserAction): void {
    const last = this.waiting.at(-1);
    const joined = last && together(last, action);
    if (joined) this.waiting[this.waiting.length - 1] = joined;
    else this.waiting.push(action);
    if (!this.isSending) void this.sendAll();
  }

  private async sendAll(): Promise<void> {
    const { send, shown, failed } = this.parts;
    this.isSending = true;
    try {
      for (let next = this.waiting.shift(); next; next = this.waiting.shift()) shown(await send(next));
    } catch (error) {
      this.waiting = [];
      failed(error);
    } finally {
      this.isSending = false;
    }
  }
}

/** One action that does what both do. */
function together(first: BrowserAction, second: BrowserAction): BrowserAction | undefined {
  if (first.type === 'text' && second.type === 'text') {
    const text = first.text + second.text;
    return text.length <= longestText ? { type: 'text', text } : undefined;
  }
  if (first.type === 'keys' && second.type === 'keys') {
    const keys = `${first.keys} ${second.keys}`;
    return keys.length <= longestKeys ? { type: 'keys', keys } : undefined;
  }
  if (first.type === 'scroll' && second.type === 'scroll') {
    const [dx, dy] = [(first.dx ?? 0) + (second.dx ?? 0), (first.dy ?? 0) + (second.dy ?? 0)];
    const isNear = Math.abs(dx) <= farthestScroll && Math.abs(dy) <= farthestScroll;
    return isNear ? { ...second, dx, dy } : undefined;
  }
  return undefined;
}
