import fc from 'fast-check';
import { escaped, reportPage } from './report-page';
import type { TaskResult } from './result';
import { scored } from './scored-result';

const result = (prediction: string): TaskResult =>
  ({
    task_id: 'a',
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
      { name: '<b>x</b>', results: scored([result('<script>alert(1)</script><img src=x onerror="go()">')]) },
    ]);

    expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt;&lt;img src=x onerror=&quot;go()&quot;&gt;');
    expect(page).toContain('&lt;b&gt;x&lt;/b&gt;');
    expect(page).toContain(`content="default-src 'none'; style-src 'unsafe-inline'"`);
    expect(page).not.toMatch(/<script|<img|<b>|https?:/);
  });

  it('has as many tags whatever a model wrote', () => {
    const tags = (text: string) => reportPage([{ name: 'n', results: scored([result(text)]) }]).match(/[<"]/g)?.length;
    fc.assert(fc.property(fc.string(), (text) => tags(text) === tags('')));
  });

  it('escapes every sign that HTML reads', () => {
    expect(escaped(`<&>"'`)).toBe('&lt;&amp;&gt;&quot;&#39;');
  });

  it('draws the share of right answers with its interval', () => {
    const page = reportPage([{ name: 'n', results: scored([result('4'), result('5')]) }]);

    expect(page).toContain('1/2 (50.0 %)');
    expect(page).toMatch(/<rect class="bar" x="180" y="6" width="210.0" height="16"\/><line class="range" x1="\d/);
  });
});
