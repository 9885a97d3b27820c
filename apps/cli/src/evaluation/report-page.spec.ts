import fc from 'fast-check';
import { reportPage } from './report-page';
import type { TaskResult } from './result';
import { scoreResults } from './scored-result';

const result = (prediction: string): TaskResult =>
  ({
    task: '1',
    task_id: 'a',
    question: 'Why?',
    model: 'demo/plain',
    run_id: 'run_1',
    prediction,
    true_answer: '4',
    agent_error: null,
    token_counts: { input: 10, cached: 0, output: 5 },
    cost_usd: 0.5,
    duration_s: 2,
    scorer: 'gaia',
    tolerance: null,
  }) as unknown as TaskResult; // the fields that the page shows

describe('the report of an evaluation', () => {
  it('shows what a model wrote as text, and lets nothing load or run', () => {
    const page = reportPage([
      { name: '<b>x</b>', results: scoreResults([result('<script>alert(1)</script><img src=x onerror="go()">')]) },
    ]);

    expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt;&lt;img src=x onerror=&quot;go()&quot;&gt;');
    expect(page).toContain('&lt;b&gt;x&lt;/b&gt;');
    expect(page).toContain(`content="default-src 'none'; style-src 'unsafe-inline'"`);
    expect(page).not.toMatch(/<script|<img|<b>|https?:/);
  });

  it('has as many tags whatever a model wrote', () => {
    const tags = (text: string) =>
      reportPage([{ name: 'n', results: scoreResults([result(text)]) }]).match(/[<"]/g)?.length;
    fc.assert(fc.property(fc.string(), (text) => tags(text) === tags('')));
  });

  it('draws the share of right answers with its interval', () => {
    const page = reportPage([{ name: 'n', results: scoreResults([result('4'), result('5')]) }]);

    expect(page).toContain('1/2 (50.0 %)');
    expect(page).toMatch(
      /<rect class="bar" x="0" y="22" width="160.0" height="10" rx="3"\/><path class="range" d="M\d/,
    );
  });

  it('compares each evaluation with the first, and shows levels and what a judge said', () => {
    const judged = { ...result('four'), scorer: 'judge' as const };
    const about = { task_id: 'a', run_id: 'run_2', model: 'demo/judge', cost_usd: 0.01 };
    const judgements = [{ ...about, judged_run_id: 'run_1', verdict: 'right' as const, reason: 'It is <4>.' }];

    const page = reportPage([
      { name: 'before', results: scoreResults([result('5')]) },
      { name: 'after', results: scoreResults([judged], { judgements }) },
    ]);

    expect(page).toContain('<h2>Compared with before</h2>');
    expect(page).toContain('<td>after</td><td>1</td><td>100.0 %</td><td>100.0 % to 100.0 %</td><td>a</td><td></td>');
    expect(page).toContain('<th>Level 1</th>');
    expect(page).toContain('<td>after</td><td>1/1 (100.0 %)</td>');
    expect(page).toContain('The judge: It is &lt;4&gt;.');
  });
});
