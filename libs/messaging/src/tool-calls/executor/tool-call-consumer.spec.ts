import type { NatsLink } from '../../connection/nats-link';
import { SubscriptionContinuity, CallBacklog } from './tool-call-consumer';

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

const bounds = { account: { calls: 3, bytes: 100 }, all: { calls: 4, bytes: 150 } };

describe('CallBacklog', () => {
  it('bounds the calls and the bytes of an account, and of all accounts', () => {
    const backlog = new CallBacklog(bounds);
    for (const bytes of [10, 10, 10]) expect(backlog.hold('a', bytes)).toBeDefined();
    expect(backlog.hold('a', 10)).toBeUndefined();

    expect(backlog.hold('b', 60)).toBeDefined();
    expect(backlog.hold('b', 60)).toBeUndefined();
  });

  it('accepts one call of each account, however full it is and however long the call', () => {
    const backlog = new CallBacklog(bounds);
    for (const account of ['a', 'b', 'c', 'd', 'e']) expect(backlog.hold(account, 120)).toBeDefined();
    expect(backlog.hold('e', 1)).toBeUndefined();
  });

  it('accepts another call for each released one, and a second release does nothing', () => {
    const backlog = new CallBacklog(bounds);
    const release = [1, 2, 3].map(() => backlog.hold('a', 10))[0];
    release?.();
    release?.();

    expect(backlog.hold('a', 10)).toBeDefined();
    expect(backlog.hold('a', 10)).toBeUndefined();
  });
});
