import { setTimeout as sleep } from 'node:timers/promises';
import { WriteCoalescer } from './write-coalescer';

describe('Departures', () => {
  it('sends at the end of a turn what was to be sent in it, in order', async () => {
    const departures = new WriteCoalescer();
    const order: string[] = [];
    departures.soon(() => order.push('first'));
    departures.soon(() => order.push('second'));
    order.push('asked');

    await new Promise(setImmediate);

    expect(order).toEqual(['asked', 'first', 'second']);
  });

  it('takes along what would have waited longer', async () => {
    const departures = new WriteCoalescer();
    const sent: string[] = [];
    departures.between(0, performance.now() + 60_000, () => sent.push('patient'));
    departures.soon(() => sent.push('urgent'));

    await new Promise(setImmediate);

    expect(sent).toEqual(['patient', 'urgent']);
  });

  it('leaves what has a moment of its own until then, whatever leaves before', async () => {
    const departures = new WriteCoalescer();
    const sent: string[] = [];
    const late = new Promise<void>((resolve) =>
      departures.at(performance.now() + 20, () => {
        sent.push('in its moment');
        resolve();
      }),
    );
    departures.soon(() => sent.push('urgent'));

    await new Promise(setImmediate);
    expect(sent).toEqual(['urgent']);
    await late;
    expect(sent).toEqual(['urgent', 'in its moment']);
  });

  it('sends what waits at its moment, when nothing else leaves', async () => {
    const departures = new WriteCoalescer();
    const sent: string[] = [];
    const left = new Promise<void>((resolve) => departures.between(0, performance.now() + 20, () => resolve()));
    void left.then(() => sent.push('patient'));

    await new Promise(setImmediate);
    expect(sent).toEqual([]);
    await left;
    expect(sent).toEqual(['patient']);
  });

  it('sends everything once, when told to', async () => {
    const departures = new WriteCoalescer();
    let times = 0;
    departures.soon(() => (times += 1));
    departures.between(0, performance.now() + 1, () => (times += 1));

    departures.flush();
    await sleep(5);

    expect(times).toBe(2);
  });
});
