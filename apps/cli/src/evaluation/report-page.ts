import type { ScoredResult } from './scored-result';
import { type Summary, summaryOf } from './summary';
import { costText, percent } from './summary-text';

export interface NamedResults {
  readonly name: string;
  readonly results: readonly ScoredResult[];
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Everything that is not this file's own is hostile: names, questions, and what models wrote. */
export const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (sign) => entities[sign] ?? '');

/** The policy allows nothing but the style below, so that no text can load or run anything. */
const head = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width">
<title>Evaluation</title>
<style>
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; --accent: #2f6fde; --wrong: #c2410c; }
body { max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem; border-bottom: 1px solid #8884; overflow-wrap: anywhere; }
.right { color: var(--accent); } .wrong { color: var(--wrong); }
svg { width: 100%; height: auto; } svg text { font-size: 12px; fill: currentColor; }
.bar { fill: var(--accent); } .range { stroke: currentColor; stroke-width: 2; }
</style>
</head>
<body>
<h1>Evaluation</h1>`;

/** A page that needs nothing else: bars with intervals, sums, and each task. */
export function reportPage(evaluations: readonly NamedResults[]): string {
  const summaries = evaluations.map(({ name, results }) => ({ name, summary: summaryOf(results) }));
  return [
    head,
    plotOf('Right answers, with 95 % confidence', summaries.map(accuracyBar)),
    plotOf(
      'Cost in USD, where it is known',
      scaled(summaries, ({ costUsd }) => [costUsd, `$${costUsd.toFixed(4)}`]),
    ),
    plotOf(
      'Time in seconds',
      scaled(summaries, ({ seconds }) => [seconds, `${seconds.toFixed(1)} s`]),
    ),
    tableOf(['Evaluation', 'Tasks', 'Right', 'Errors', 'Tokens', 'Cost of the judge'], summaries.map(sumRow)),
    ...evaluations.map(
      ({ name, results }) =>
        `<h2>${escaped(name)}</h2>\n${tableOf(['Task', 'Verdict', 'Prediction', 'True answer', 'Run'], results.map(taskRow))}`,
    ),
    '</body>\n</html>\n',
  ].join('\n');
}

interface NamedSummary {
  readonly name: string;
  readonly summary: Summary;
}

/** A bar; lengths are parts of the plot's width. */
interface Bar {
  readonly name: string;
  readonly length: number;
  readonly range?: readonly [number, number];
  readonly label: string;
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

const plot = { left: 180, width: 420, right: 200, row: 28 };

function plotOf(title: string, bars: readonly Bar[]): string {
  const width = plot.left + plot.width + plot.right;
  const rows = bars.map(({ name, length, range, label }, index) => {
    const y = index * plot.row;
    const x = (part: number) => (plot.left + part * plot.width).toFixed(1);
    const line = range
      ? `<line class="range" x1="${x(range[0])}" x2="${x(range[1])}" y1="${y + 14}" y2="${y + 14}"/>`
      : '';
    return (
      `<text x="0" y="${y + 18}">${escaped(name.slice(-26))}</text>` +
      `<rect class="bar" x="${plot.left}" y="${y + 6}" width="${(length * plot.width).toFixed(1)}" height="16"/>${line}` +
      `<text x="${plot.left + plot.width + 12}" y="${y + 18}">${escaped(label)}</text>`
    );
  });
  const box = `0 0 ${width} ${bars.length * plot.row}`;
  return `<h2>${escaped(title)}</h2>\n<svg role="img" aria-label="${escaped(title)}" viewBox="${box}">${rows.join('')}</svg>`;
}

/** Cells are HTML already. */
function tableOf(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const row = (tag: string, cells: readonly string[]) =>
    `<tr>${cells.map((cell) => `<${tag}>${cell}</${tag}>`).join('')}</tr>`;
  return `<table>\n${[row('th', titles.map(escaped)), ...rows.map((cells) => row('td', cells))].join('\n')}\n</table>`;
}

function sumRow({
  name,
  summary: { tasks, right, scored, unjudged, errors, judging, ...sums },
}: NamedSummary): string[] {
  const open = unjudged === 0 ? '' : `, ${unjudged} unjudged`;
  const judge = judging.answers === 0 ? '' : costText(judging.costUsd, judging.unpriced);
  const tokens = `${sums.inputTokens} + ${sums.outputTokens}`;
  return [name, `${tasks}`, `${right}/${scored}${open}`, `${errors}`, tokens, judge].map(escaped);
}

function taskRow(result: ScoredResult): string[] {
  const { verdict, judgement, agent_error: error, prediction, true_answer: trueAnswer, run_id: runId } = result;
  const reason = judgement === null ? '' : `<br><small>${escaped(judgement.reason.slice(0, 2_000))}</small>`;
  return [
    escaped(result.task_id),
    `<span class="${verdict}">${verdict}</span>${reason}`,
    ...[error ?? prediction ?? '', trueAnswer ?? '', runId].map((text) => escaped(text.slice(0, 2_000))),
  ];
}
