import { encodeEntities } from '@rondo/domain';
import { toPage, toTable } from './html';
import { type Bar, toPlot } from './report-plot';
import { reportStyle } from './report-style';
import type { ScoredResult } from './scored-result';
import { type Summary, compareResults, listLevels, toSummary } from './summary';
import { costText, intervalText, percent } from './summary-text';

export interface NamedResults {
  readonly name: string;
  readonly results: readonly ScoredResult[];
}

interface NamedSummary {
  readonly name: string;
  readonly results: readonly ScoredResult[];
  readonly summary: Summary;
}

/** A page that needs nothing else: bars with intervals, sums, differences, and each task. */
export function reportPage(evaluations: readonly NamedResults[]): string {
  const all = evaluations.map(({ name, results }) => ({ name, results, summary: toSummary(results) }));
  return toPage('Evaluation', reportStyle, [
    `<h1>${encodeEntities(all.map(({ name }) => name).join(' · '))}</h1>`,
    '<div class="plots">',
    toPlot('Right answers, with 95 % confidence', all.map(accuracyBar)),
    toPlot(
      'Cost, where it is known',
      scaled(all, ({ costUsd }) => [costUsd, `$${costUsd.toFixed(4)}`]),
    ),
    toPlot(
      'Time of all runs',
      scaled(all, ({ seconds }) => [seconds, `${seconds.toFixed(1)} s`]),
    ),
    '</div>',
    '<h2>Sums</h2>',
    toTable(['Evaluation', 'Model', 'Tasks', 'Right', 'Errors', 'Tokens', 'Cost of the judge'], all.map(sumRow)),
    ...listDifferences(all),
    ...levelTable(all),
    ...all.map(({ name, results }) => `<h2>${encodeEntities(name)}</h2>\n${taskTable(results)}`),
  ]);
}

function accuracyBar({ name, summary: { right, scored, interval } }: NamedSummary): Bar {
  const length = scored === 0 ? 0 : right / scored;
  return { name, length, range: [interval.low, interval.high], label: `${right}/${scored} (${percent(length)})` };
}

function scaled(summaries: readonly NamedSummary[], value: (summary: Summary) => [number, string]): Bar[] {
  const most = Math.max(...summaries.map(({ summary }) => value(summary)[0]));
  return summaries.map(({ name, summary }) => {
    const [size, label] = value(summary);
    return { name, length: most === 0 ? 0 : size / most, label };
  });
}

function sumRow({ name, results, summary }: NamedSummary): string[] {
  const { tasks, right, scored, unjudged, errors, judging, inputTokens, outputTokens } = summary;
  const models = [...new Set(results.map(({ model }) => model))].join(', ');
  const open = unjudged === 0 ? '' : `, ${unjudged} unjudged`;
  const judge = judging.answers === 0 ? '' : costText(judging.costUsd, judging.unpriced);
  const tokens = `${inputTokens} + ${outputTokens}`;
  return [name, models, `${tasks}`, `${right}/${scored}${open}`, `${errors}`, tokens, judge].map(encodeEntities);
}

/** Of each evaluation and the first one. */
function listDifferences([first, ...others]: readonly NamedSummary[]): string[] {
  if (!first || others.length === 0) return [];
  const rows = others.map(({ name, results }) => {
    const { tasks, difference, interval, changes } = compareResults(first.results, results);
    const named = (wanted: 'gained' | 'lost') =>
      changes.flatMap(({ taskId, change }) => (change === wanted ? [taskId] : [])).join(', ');
    return [name, `${tasks}`, percent(difference), intervalText(interval), named('gained'), named('lost')].map(
      encodeEntities,
    );
  });
  const titles = ['Evaluation', 'Tasks that both have', 'Difference', '95 %', 'Gained', 'Lost'];
  return [`<h2>Compared with ${encodeEntities(first.name)}</h2>`, toTable(titles, rows)];
}

function levelTable(all: readonly NamedSummary[]): string[] {
  const levels = [...new Set(all.flatMap(({ results }) => listLevels(results).map(({ level }) => level)))].sort();
  if (levels.length === 0) return [];
  const rows = all.map(({ name, results }) => {
    const known = new Map(listLevels(results).map(({ level, summary }) => [level, summary]));
    const cells = levels.map((level) => {
      const { right = 0, scored = 0 } = known.get(level) ?? {};
      return scored === 0 ? '' : `${right}/${scored} (${percent(right / scored)})`;
    });
    return [name, ...cells].map(encodeEntities);
  });
  return ['<h2>Right answers by level</h2>', toTable(['Evaluation', ...levels.map((level) => `Level ${level}`)], rows)];
}

const taskTable = (results: readonly ScoredResult[]): string =>
  toTable(['Task', 'Verdict', 'Answer', 'True answer', 'Cost', 'Time'], results.map(taskRow));

const longest = 2_000;
const shown = (text: string): string => encodeEntities(text.length > longest ? `${text.slice(0, longest)} …` : text);

function taskRow(result: ScoredResult): string[] {
  const { verdict, judgement, agent_error: error, prediction, cost_usd: cost, duration_s: seconds } = result;
  const details = [
    `<p>${shown(result.question)}</p>`,
    ...(judgement ? [`<p class="muted">The judge: ${shown(judgement.reason)}</p>`] : []),
    `<p class="muted">${shown(result.run_id)}</p>`,
  ];
  return [
    `<details><summary>${shown(result.task_id)}</summary>${details.join('')}</details>`,
    `<span class="verdict ${verdict}">${verdict}</span>`,
    error === null ? shown(prediction ?? '') : `<span class="error">${shown(error)}</span>`,
    shown(result.true_answer ?? ''),
    cost === null ? '' : `$${cost.toFixed(4)}`,
    seconds === null ? '' : `${seconds.toFixed(1)} s`,
  ];
}
