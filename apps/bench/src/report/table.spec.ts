import { toTaken } from './outcome';
import { describe as toTable } from './table';

const figure = { key: 'cpu', title: 'CPU', unit: 'ms', bounds: 'ratio', better: 'less', must: 2, goal: 1 } as const;

describe('the table', () => {
  it('takes ratios within the rounds and holds their median against the bounds', () => {
    const rounds = [
      { rondo: { cpu: 3 }, bare: { cpu: 2 } },
      { rondo: { cpu: 30 }, bare: { cpu: 10 } },
      { rondo: { cpu: 2 }, bare: { cpu: 2 } },
    ];

    const row = toTable([toTaken({ name: 'turns', figures: [figure] }, rounds)]).split('\n')[2];

    expect(row).toContain('3 (2..30) ms');
    expect(row).toContain('×1.5 (1..3)');
    expect(row).toContain('✓ ≤ 2');
    expect(row).toContain('✗ ≤ 1');
  });

  it('shows findings that are no figures beneath', () => {
    const rounds = [{ rondo: { cpu: 1, 'CPU of nats, ms': 0.2 } }];

    expect(toTable([toTaken({ name: 'turns', figures: [figure] }, rounds)])).toContain('- turns: CPU of nats, ms: 0.2');
  });
});
