import type { Fact } from '@rondo/test-deployment';
import { takeovers } from './takeovers';

const second = 1_000;
const log = (...facts: [epoch: number, atMs: number][]): Fact[] =>
  facts.map(([epoch, atMs], index) => ({
    id: `evt_${index}`,
    seq: index + 1,
    type: 'message.created',
    iteration: 1,
    epoch,
    at: new Date(atMs).toISOString(),
    data: {},
  }));

describe('takeovers', () => {
  it('counts from the kill to the first fact of the next epoch', () => {
    expect(takeovers(log([1, second], [2, 17 * second]), [2 * second], 11 * second)).toEqual([15 * second]);
  });

  it('counts from the earliest kill when several lie between', () => {
    expect(takeovers(log([1, second], [2, 21 * second]), [2 * second, 7 * second], 11 * second)).toEqual([19 * second]);
  });

  it('counts from the latest possible kill when a holder died before its first fact', () => {
    const kills = [2 * second, 17 * second, 30 * second];

    expect(takeovers(log([1, second], [3, 33 * second]), kills, 11 * second)).toEqual([16 * second]);
  });

  it('leaves out the first claim, hand-overs and kills of others', () => {
    expect(takeovers(log([0, 0], [1, 20 * second]), [second], 11 * second)).toEqual([]);
    expect(takeovers(log([1, second], [2, 3 * second]), [2 * second], 11 * second)).toEqual([]);
    expect(takeovers(log([1, second], [1, 30 * second]), [2 * second], 11 * second)).toEqual([]);
  });
});
