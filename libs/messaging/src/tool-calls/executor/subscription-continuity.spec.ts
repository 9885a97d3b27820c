import type { NatsLink } from '../../connection/nats-link';
import { SubscriptionContinuity } from './subscription-continuity';

describe('SubscriptionContinuity', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  function listening() {
    const link = { connected: true, losses: 0 };
    const continuity = new SubscriptionContinuity(link as NatsLink, 5_000);
    jest.advanceTimersByTime(5_001);
    return { link, continuity };
  }

  it('is unbroken after the given time', () => {
    const continuity = new SubscriptionContinuity({ connected: true, losses: 0 } as NatsLink, 5_000);

    jest.advanceTimersByTime(5_000);
    expect(continuity.isUnbroken()).toBe(false);

    jest.advanceTimersByTime(1);
    expect(continuity.isUnbroken()).toBe(true);
  });

  it('starts the time again on restart', () => {
    const { continuity } = listening();
    continuity.restart();
    expect(continuity.isUnbroken()).toBe(false);

    jest.advanceTimersByTime(5_001);
    expect(continuity.isUnbroken()).toBe(true);
  });

  it('starts the time again after a lost connection, from when it is noticed', () => {
    const { link, continuity } = listening();
    link.connected = false;
    link.losses += 1;
    expect(continuity.isUnbroken()).toBe(false);

    link.connected = true;
    expect(continuity.isUnbroken()).toBe(false);

    jest.advanceTimersByTime(5_001);
    expect(continuity.isUnbroken()).toBe(true);
  });
});
