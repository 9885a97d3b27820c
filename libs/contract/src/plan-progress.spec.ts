import { planIn, planProgress } from './plan-progress';

describe('planIn', () => {
  it('reads the items of a task list, whatever stands between them', () => {
    const text = '# Plan\n\n- [x] Read\n  * [X]  Write it \r\n1. [ ] Test\n2) [ ]\n- no item\n-[ ] neither\n';

    expect(planIn(text)).toEqual({
      items: [
        { text: 'Read', done: true },
        { text: 'Write it', done: true },
        { text: 'Test', done: false },
        { text: '', done: false },
      ],
      done: 2,
      total: 4,
    });
  });

  it.each(['', '# Plan\n\nNothing yet.', '\0\0\0', '- [y] no'])('finds no plan in %j', (text) => {
    expect(planIn(text)).toBeUndefined();
  });

  it('is bounded, and counts all', () => {
    const plan = planIn(`- [ ] ${'x'.repeat(10_000)}\n`.repeat(500));

    expect(planProgress.parse(plan)).toMatchObject({ done: 0, total: 500 });
    expect(JSON.stringify(plan).length).toBeLessThan(40_000);
  });

  it('takes linear time for hostile text', () => {
    const startedAt = performance.now();
    planIn(`${' '.repeat(64_000)}[x]`);
    planIn(`- [x]${' '.repeat(64_000)}`);

    expect(performance.now() - startedAt).toBeLessThan(3_000);
  });
});
