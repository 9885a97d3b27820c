import type { Spread } from '../statistics';
import { type Outcome, type Taken, meets } from './outcome';

const columns = ['measure', 'figure', 'Rondo', 'bare loop', 'ratio (min..max)', 'must', 'goal'];

/** A Markdown table. */
export function describe(taken: readonly Taken[]): string {
  const notes = taken.flatMap(({ measure, explanations }) =>
    Object.entries(explanations).map(([name, value]) => `- ${measure}: ${name}: ${number(value)}`),
  );
  return [toTable(taken.flatMap(({ outcomes }) => outcomes)), ...(notes.length > 0 ? ['', ...notes] : [])].join('\n');
}

function toTable(outcomes: readonly Outcome[]): string {
  const rows = [columns, columns.map(() => '---'), ...outcomes.map(toRow)];
  const widths = columns.map((_, index) => Math.max(...rows.map((row) => (row[index] ?? '').length)));
  return rows.map((row) => `| ${row.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join(' | ')} |`).join('\n');
}

function toRow(outcome: Outcome): string[] {
  const { measure, title, unit, rondo, bare, ratio } = outcome;
  return [
    measure,
    title,
    `${withSpread(rondo)} ${unit}`,
    bare ? `${number(bare.median)} ${unit}` : '',
    ratio ? `×${withSpread(ratio)}` : '',
    toBound(outcome, outcome.must),
    toBound(outcome, outcome.goal),
  ];
}

function toBound(outcome: Outcome, limit: number | undefined): string {
  if (limit === undefined) return '';
  const sign = outcome.better === 'less' ? '≤' : '≥';
  return `${meets(outcome, limit) ? '✓' : '✗'} ${sign} ${limit}`;
}

const withSpread = ({ median, min, max }: Spread): string =>
  min === max || Number.isNaN(min) ? number(median) : `${number(median)} (${number(min)}..${number(max)})`;

/** Three significant digits: the measurements are not more exact than that. */
function number(value: number): string {
  if (!Number.isFinite(value)) return '–';
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en');
  return String(Number(value.toPrecision(3)));
}
