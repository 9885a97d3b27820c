import { shareNextRound } from './share-next-round';

describe('shareNextRound', () => {
  it('does the task once for all who ask while it is under way, and not before it has ended', async () => {
    const rounds: ((answer: string) => void)[] = [];
    const ask = shareNextRound(() => new Promise<string>((resolve) => rounds.push(resolve)));
    const first = ask();
    await Promise.resolve();
    const [second, third] = [ask(), ask()];
    expect(rounds).toHaveLength(1);

    rounds[0]?.('first');
    await first;
    await new Promise(setImmediate);
    rounds[1]?.('second');

    expect(await Promise.all([second, third])).toEqual(['second', 'second']);
    expect(rounds).toHaveLength(2);
  });

  it('tells all who share a round that it failed, and goes on with the next', async () => {
    let round = 0;
    const ask = shareNextRound(() => ((round += 1) === 1 ? Promise.reject(new Error('away')) : Promise.resolve(round)));
    const [first, second] = [ask(), ask()];

    await expect(first).rejects.toThrow('away');
    await expect(second).rejects.toThrow('away');
    expect(await ask()).toBe(2);
  });
});
