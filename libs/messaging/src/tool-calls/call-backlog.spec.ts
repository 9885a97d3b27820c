import { CallBacklog } from './call-backlog';

const bounds = { account: { calls: 3, bytes: 100 }, all: { calls: 4, bytes: 150 } };

describe('CallBacklog', () => {
  it('keeps so many calls of an account, and so many bytes of it', () => {
    const backlog = new CallBacklog(bounds);
    for (const bytes of [10, 10, 10]) expect(backlog.hold('a', bytes)).toBeDefined();
    expect(backlog.hold('a', 10)).toBeUndefined();

    expect(backlog.hold('b', 60)).toBeDefined();
    expect(backlog.hold('b', 60)).toBeUndefined();
  });

  it('keeps one call of each account, however full it is and however long the call', () => {
    const backlog = new CallBacklog(bounds);
    for (const account of ['a', 'b', 'c', 'd', 'e']) expect(backlog.hold(account, 120)).toBeDefined();
    expect(backlog.hold('e', 1)).toBeUndefined();
  });

  it('has room again for what was let go of, once', () => {
    const backlog = new CallBacklog(bounds);
    const letGo = [1, 2, 3].map(() => backlog.hold('a', 10))[0];
    letGo?.();
    letGo?.();

    expect(backlog.hold('a', 10)).toBeDefined();
    expect(backlog.hold('a', 10)).toBeUndefined();
  });
});
