import { setTimeout as sleep } from 'node:timers/promises';
import { WriteCoalescer } from './write-coalescer';

describe('WriteCoalescer', () => {
  it('sends at the end of a turn of the event loop, in order', async () => {
    const coalescer = new WriteCoalescer();
    const order: string[] = [];
    coalescer.soon(() => order.push('first'));
    coalescer.soon(() => order.push('second'));
    order.push('asked');

    await new Promise(setImmediate);

    expect(order).toEqual(['asked', 'first', 'second']);
  });

  it('also sends messages that could have waited longer', async () => {
    const coalescer = new WriteCoalescer();
    const sent: string[] = [];
    coalescer.between(0, performance.now() + 60_000, () => sent.push('patient'));
    coalescer.soon(() => sent.push('urgent'));

    await new Promise(setImmediate);

    expect(sent).toEqual(['patient', 'urgent']);
  });

  it('does not send a message before its time, whatever is flushed before', async () => {
    const coalescer = new WriteCoalescer();
    const sent: string[] = [];
    const late = new Promise<void>((resolve) =>
      coalescer.at(performance.now() + 20, () => {
        sent.push('at its time');
        resolve();
      }),
    );
    coalescer.soon(() => sent.push('urgent'));

    await new Promise(setImmediate);
    expect(sent).toEqual(['urgent']);
    await late;
    expect(sent).toEqual(['urgent', 'at its time']);
  });

  it('sends a message at its deadline when nothing is flushed before', async () => {
    const coalescer = new WriteCoalescer();
    const sent: string[] = [];
    const left = new Promise<void>((resolve) => coalescer.between(0, performance.now() + 20, () => resolve()));
    void left.then(() => sent.push('patient'));

    await new Promise(setImmediate);
    expect(sent).toEqual([]);
    await left;
    expect(sent).toEqual(['patient']);
  });

  it('sends everything once on flush', async () => {
    const coalescer = new WriteCoalescer();
    let times = 0;
    coalescer.soon(() => (times += 1));
    coalescer.between(0, performance.now() + 1, () => (times += 1));

    coalescer.flush();
    await sleep(5);

    expect(times).toBe(2);
  });
});
