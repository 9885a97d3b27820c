import { setImmediate } from 'node:timers/promises';
import type { DueDelivery } from '@rondo/persistence';
import { WebhookDispatcher } from './webhook-dispatcher';

const delivery: DueDelivery = {
  id: 'whd_1',
  accountId: 'acc_1',
  endpointId: 'whe_1',
  eventId: 'evt_1',
  type: 'run.completed',
  body: '{}',
  attempts: 0,
  endpoint: { url: 'https://receiver.example/', secrets: [], isPaused: false },
};

/** One delivery that is due, in memory. */
class OneDue {
  claims = 0;
  private isHeld = false;

  async claim() {
    this.claims += 1;
    if (this.claims > 5) throw new Error('it is claimed again and again');
    await setImmediate();
    const claimed = this.isHeld ? [] : [delivery];
    this.isHeld = true;
    return { seen: claimed.length, claimed };
  }
  release() {
    this.isHeld = false;
    return Promise.resolve();
  }
  readonly delivered = () => Promise.reject(new Error('nothing was delivered'));
  readonly retry = this.delivered;
  readonly giveUp = this.delivered;
  readonly forget = this.delivered;

  get isDue(): boolean {
    return !this.isHeld;
  }
}

const unanswered = {
  send: (_delivery: unknown, _endpoint: unknown, signal: AbortSignal) =>
    new Promise<'aborted'>((resolve) => {
      if (signal.aborted) resolve('aborted');
      else signal.addEventListener('abort', () => resolve('aborted'));
    }),
};

describe('a dispatcher of webhooks that closes', () => {
  it.each([
    ['while it claims', 0],
    ['while an attempt is under way', 5],
  ])('%s, leaves what it took to others, and takes nothing more', async (_, turns) => {
    const due = new OneDue();
    const errors: unknown[] = [];
    const onError = (error: unknown) => void errors.push(error);
    const parts = { due, sender: unanswered, random: () => 0, onError, onGivenUp: onError };
    const dispatcher = new WebhookDispatcher(parts);

    const pass = dispatcher.pass();
    for (let turn = 0; turn < turns; turn++) await setImmediate();
    const claims = due.claims;
    await dispatcher.close();

    await pass;
    expect([due.claims, due.isDue, errors]).toEqual([claims, true, []]);
  });
});
