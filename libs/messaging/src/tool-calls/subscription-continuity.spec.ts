import type { NatsLink } from '../connection/nats-link';
import { SubscriptionContinuity } from './subscription-continuity';

describe('Attention', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  function listening() {
    const link = { connected: true, losses: 0 };
    const attention = new SubscriptionContinuity(link as NatsLink, 5_000);
    jest.advanceTimersByTime(5_001);
    return { link, attention };
  }

  it('is unbroken after long enough', () => {
    const attention = new SubscriptionContinuity({ connected: true, losses: 0 } as NatsLink, 5_000);

    jest.advanceTimersByTime(5_000);
    expect(attention.isUnbroken()).toBe(false);

    jest.advanceTimersByTime(1);
    expect(attention.isUnbroken()).toBe(true);
  });

  it('begins anew when it lapses', () => {
    const { attention } = listening();
    attention.lapse();
    expect(attention.isUnbroken()).toBe(false);

    jest.advanceTimersByTime(5_001);
    expect(attention.isUnbroken()).toBe(true);
  });

  it('begins anew after a lost connection, when that is first noticed', () => {
    const { link, attention } = listening();
    link.connected = false;
    link.losses += 1;
    expect(attention.isUnbroken()).toBe(false);

    link.connected = true;
    expect(attention.isUnbroken()).toBe(false);

    jest.advanceTimersByTime(5_001);
    expect(attention.isUnbroken()).toBe(true);
  });
});
