import { never, within } from './findings';
import { renderScorecard } from './render-scorecard';
import { type Scorecard, allMet, renew } from './scorecard';
import { findSpread } from './spread';

const measured = {
  date: '2026-01-02T03:04:05.000Z',
  commit: 'abc1234',
  machine: { cpu: 'A | B', cores: 2, memory_gib: 8, node: '20.19.0', os: 'linux 6.1' },
};

const card: Scorecard = {
  scale: 'full',
  results: [
    {
      ...measured,
      name: 'kills',
      title: 'kill -9 of anything.',
      seconds: 12.34,
      findings: {
        size: '3 runs',
        faults: { 'kill -9 agent-worker': 2 },
        counts: { runs: 3, unknown: 1 },
        times: { takeover: findSpread([900, 15_250]), 'never seen': undefined },
        bars: [never('lost runs', 0), within('takeover p95', 15_250, 10_000)],
        table: { head: ['point', 'kills'], rows: [['claim', '20']] },
        details: ['run_1: place 2 holds seq 3'],
      },
    },
    { ...measured, name: 'stop', title: 'Stops.', seconds: 1, error: 'no worker' },
  ],
};

describe('renderScorecard', () => {
  const page = renderScorecard(card);

  it('says how it was made: machine, date and commit of each experiment', () => {
    expect(page).toContain('| machine | A \\| B, 2 cores, 8 GiB, Node 20.19.0, linux 6.1 |');
    expect(page).toContain('| **missed**: takeover p95 | `abc1234` | 2026-01-02 |');
  });

  it('says for each experiment what was injected, counted and measured', () => {
    expect(page).toContain('| faults | kill -9 agent-worker: 2 |');
    expect(page).toContain('| counted | runs: 3, unknown: 1 |');
    expect(page).toContain('| takeover | 2 | 900 ms | 15.3 s | 15.3 s | 15.3 s |');
    expect(page).toContain('| point | kills |\n| --- | --- |\n| claim | 20 |');
    expect(page).toContain('- run_1: place 2 holds seq 3');
  });

  it('hides no miss, and calls an experiment that did not end one', () => {
    expect(page).toContain('| lost runs | 0 | 0 | met |');
    expect(page).toContain('| takeover p95 | ≤ 10.0 s | 15.3 s | **missed** |');
    expect(page).toContain('| [kills](#kills) | 3 runs | 1 of 2 | **missed**: takeover p95 |');
    expect(page).toContain('| [stop](#stop) |  | 0 of 0 | **missed**: did not end |');
    expect(allMet(card.results)).toBe(false);
  });
});

describe('an experiment that is done again', () => {
  const [kills, stop] = card.results as [Scorecard['results'][number], Scorecard['results'][number]];
  const again = { ...stop, commit: 'def5678' };

  it('replaces what it has found before, beside the others', () => {
    const renewed = renew(card, { scale: 'full', results: [again] }, ['stop', 'kills']);

    expect(renewed.results).toEqual([again, kills]);
  });

  it('stands alone where the others had another scale, or there is nothing yet', () => {
    for (const before of [undefined, { ...card, scale: 'small' }])
      expect(renew(before, { scale: 'full', results: [again] }, ['kills', 'stop']).results).toEqual([again]);
  });
});
