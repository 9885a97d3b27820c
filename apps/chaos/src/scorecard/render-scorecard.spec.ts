import { never, within } from './findings';
import { renderScorecard } from './render-scorecard';
import { type Scorecard, allMet } from './scorecard';
import { findSpread } from './spread';

const card: Scorecard = {
  date: '2026-01-02T03:04:05.000Z',
  commit: 'abc1234',
  command: 'npm run chaos -- --only kills',
  scale: 'full',
  machine: { cpu: 'A | B', cores: 2, memory_gib: 8, node: '20.19.0', os: 'linux 6.1' },
  results: [
    {
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
    { name: 'stop', title: 'Stops.', seconds: 1, error: 'no worker' },
  ],
};

describe('renderScorecard', () => {
  const page = renderScorecard(card);

  it('says how it was made: machine, date, commit and command', () => {
    expect(page).toContain('| machine | A \\| B, 2 cores, 8 GiB, Node 20.19.0, linux 6.1 |');
    expect(page).toContain('| commit | `abc1234` |');
    expect(page).toContain('| command | `npm run chaos -- --only kills` |');
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
    expect(allMet(card)).toBe(false);
  });
});
