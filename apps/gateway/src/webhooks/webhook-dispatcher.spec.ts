import { setImmediate } from 'node:timers/promises';
import type { DueDeliveriesRequest, DueDelivery } from '@rondo/persistence';
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
  readonly recordDelivery = () => Promise.reject(new Error('nothing was delivered'));
  readonly retry = this.recordDelivery;
  readonly giveUp = this.recordDelivery;
  readonly forget = this.recordDelivery;

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

/** Deliveries that are due, claimed as Postgres does it: in order, a few of each account. */
class ManyDue {
  private readonly waiting: DueDelivery[];

  constructor(deliveries: readonly DueDelivery[]) {
    this.waiting = [...deliveries];
  }

  claim({ busy, most }: DueDeliveriesRequest) {
    const seen = this.waiting.filter(({ accountId }) => !busy.accounts.includes(accountId)).slice(0, 200);
    const counts = new Map<string, number>();
    const claimed = seen.filter(({ accountId }) => {
      counts.set(accountId, (counts.get(accountId) ?? 0) + 1);
      return (counts.get(accountId) ?? 0) <= most.ofAccount;
    });
    for (const one of claimed) this.waiting.splice(this.waiting.indexOf(one), 1);
    return Promise.resolve({ seen: seen.length, claimed });
  }

  readonly recordDelivery = () => Promise.resolve();
  readonly retry = this.recordDelivery;
  readonly giveUp = this.recordDelivery;
  readonly release = this.recordDelivery;
  readonly forget = this.recordDelivery;
}

describe('attack: webhook endpoints', () => {
  it('of six accounts that never answer leave places for those of a seventh', async () => {
    const ofAccount = (accountId: string, count: number) =>
      Array.from({ length: count }, (_, index) => ({
        ...delivery,
        ...{ accountId, id: `${accountId}_${index}`, endpointId: `${accountId}_${index % 20}` },
      }));
    const hanging = ['1', '2', '3', '4', '5', '6'].flatMap((name) => ofAccount(name, 400));
    const sent: string[] = [];
    const sender = {
      send: (one: DueDelivery, endpoint: unknown, signal: AbortSignal) => {
        sent.push(one.accountId);
        return unanswered.send(one, endpoint, signal);
      },
    };
    const onError = (error: unknown) => {
      throw error;
    };
    const due = new ManyDue([...hanging, ...ofAccount('the seventh', 1)]);
    const dispatcher = new WebhookDispatcher({ due, sender, random: () => 0, onError, onGivenUp: onError });
    await dispatcher.pass();
    await dispatcher.close();

    expect(sent).toContain('the seventh');
    expect(sent.length).toBeLessThan(400);
    expect(sent.filter((account) => account === '1').length).toBeLessThanOrEqual(208);
  });
});
