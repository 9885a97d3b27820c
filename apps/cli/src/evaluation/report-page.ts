import { encodeEntities } from '@rondo/domain';
import { toDollars } from '../dollars';
import type { ScoredResult } from './scored-result';
import { type Summary, compareResults, listLevels, toSummary, costText, intervalText, percent } from './summary';

interface NamedResults {
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
      toBars(all, ({ costUsd }) => [costUsd, toDollars(costUsd)]),
    ),
    toPlot(
      'Time of all runs',
      toBars(all, ({ seconds }) => [seconds, `${seconds.toFixed(1)} s`]),
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

function toBars(summaries: readonly NamedSummary[], value: (summary: Summary) => [number, string]): Bar[] {
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
    const listTasks = (wanted: 'gained' | 'lost') =>
      changes.flatMap(({ taskId, change }) => (change === wanted ? [taskId] : [])).join(', ');
    return [name, `${tasks}`, percent(difference), intervalText(interval), listTasks('gained'), listTasks('lost')].map(
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
const showText = (text: string): string => encodeEntities(text.length > longest ? `${text.slice(0, longest)} …` : text);

function taskRow(result: ScoredResult): string[] {
  const { verdict, judgement, agent_error: error, prediction, cost_usd: cost, duration_s: seconds } = result;
  const details = [
    `<p>${showText(result.question)}</p>`,
    ...(judgement ? [`<p class="muted">The judge: ${showText(judgement.reason)}</p>`] : []),
    `<p class="muted">${showText(result.run_id)}</p>`,
  ];
  return [
    `<details><summary>${showText(result.task_id)}</summary>${details.join('')}</details>`,
    `<span class="verdict ${verdict}">${verdict}</span>`,
    error === null ? showText(prediction ?? '') : `<span class="error">${showText(error)}</span>`,
    showText(result.true_answer ?? ''),
    cost === null ? '' : toDollars(cost),
    seconds === null ? '' : `${seconds.toFixed(1)} s`,
  ];
}

/** Lengths are parts of the width of a plot. */
interface Bar {
  readonly name: string;
  readonly length: number;
  /** An interval, drawn across the end of the bar. */
  readonly range?: readonly [number, number];
  readonly label: string;
}

const [width, rowHeight] = [320, 46];
const x = (part: number): string => (part * width).toFixed(1);

/** Bars below each other, each under its name and its label. */
function toPlot(title: string, bars: readonly Bar[]): string {
  const rows = bars.map(({ name, length, range, label }, index) => {
    const y = index * rowHeight;
    return (
      `<text class="name" x="0" y="${y + 14}">${encodeEntities(name.slice(-28))}</text>` +
      `<text x="${width}" y="${y + 14}" text-anchor="end">${encodeEntities(label)}</text>` +
      `<rect class="track" x="0" y="${y + 22}" width="${width}" height="10" rx="3"/>` +
      `<rect class="bar" x="0" y="${y + 22}" width="${x(length)}" height="10" rx="3"/>` +
      (range ? toInterval(range, y + 27) : '')
    );
  });
  const box = `0 0 ${width} ${bars.length * rowHeight - 8}`;
  const drawing = `<svg role="img" aria-label="${encodeEntities(title)}" viewBox="${box}">${rows.join('')}</svg>`;
  return `<figure><figcaption>${encodeEntities(title)}</figcaption>${drawing}</figure>`;
}

const toInterval = ([from, to]: readonly [number, number], y: number): string =>
  `<path class="range" d="M${x(from)} ${y}H${x(to)}M${x(from)} ${y - 5}v10M${x(to)} ${y - 5}v10"/>`;

const reportStyle = `:root {
  color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif;
  --line: light-dark(#e2e5ea, #363a42); --muted: light-dark(#5a6270, #9aa2af); --card: light-dark(#fff, #1b1d22);
  --accent: light-dark(#2f6fde, #78a5ff); --right: light-dark(#177245, #55c98f); --wrong: light-dark(#b93a0b, #ff9466);
}
body { max-width: 76rem; margin: 2.5rem auto; padding: 0 1.25rem; background: light-dark(#f7f8fa, #131519); }
h1 { font-size: 1.7rem; } h2 { font-size: 1.2rem; margin: 2.2rem 0 .8rem; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(19rem, 1fr)); gap: 1rem; }
figure, table { margin: 0; background: var(--card); border: 1px solid var(--line); border-radius: 10px; }
figure { padding: 1rem 1.1rem; } figcaption { color: var(--muted); margin-bottom: .7rem; }
svg { width: 100%; height: auto; } svg text { font-size: 13px; fill: currentColor; } svg .name { font-weight: 600; }
.track { fill: var(--line); } .bar { fill: var(--accent); } .range { stroke: currentColor; stroke-width: 1.5; fill: none; }
table { border-collapse: separate; border-spacing: 0; width: 100%; overflow: hidden; font-variant-numeric: tabular-nums; }
th, td { text-align: left; vertical-align: top; padding: .45rem .8rem; overflow-wrap: anywhere; }
th { color: var(--muted); font-weight: 500; } td { border-top: 1px solid var(--line); } td:first-child { min-width: 9rem; }
.verdict { border: 1px solid; border-radius: 99px; padding: .05rem .55rem; font-size: .85rem; color: var(--muted); }
.verdict.right { color: var(--right); } .verdict.wrong { color: var(--wrong); } .error { color: var(--wrong); }
summary { cursor: pointer; } details p { margin: .3rem 0; white-space: pre-wrap; } .muted { color: var(--muted); font-size: .9rem; }
`;

/** Cells are HTML already: names, questions and what models wrote are hostile, and were encoded. */
function toTable(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const row = (tag: string, cells: readonly string[]) =>
    `<tr>${cells.map((cell) => `<${tag}>${cell}</${tag}>`).join('')}</tr>`;
  return `<table>\n${[row('th', titles.map(encodeEntities)), ...rows.map((cells) => row('td', cells))].join('\n')}\n</table>`;
}

/** The policy allows nothing but the style of the page, so that no text can load or run anything. */
const toPage = (title: string, style: string, parts: readonly string[]): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width">
<title>${encodeEntities(title)}</title>
<style>
${style}</style>
</head>
<body>
${parts.join('\n')}
</body>
</html>
`;
