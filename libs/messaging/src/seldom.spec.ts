import { seldom } from './log';

describe('seldom', () => {
  beforeEach(() => jest.useFakeTimers({ now: 0 }));
  afterEach(() => jest.useRealTimers());

  it('reports the first failure, and one in ten seconds with the number of the others', () => {
    const reports: [unknown, number][] = [];
    const report = seldom((error, { unreported }) => reports.push([error, unreported]));

    for (const error of ['a', 'b', 'c']) report(error);
    jest.advanceTimersByTime(10_000);
    report('d');
    report('e');

    expect(reports).toEqual([
      ['a', 0],
      ['d', 2],
    ]);
  });
});
