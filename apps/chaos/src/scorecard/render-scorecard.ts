import { type Bar, type Findings, inWords } from './findings';
import { type Result, type Scorecard, missedIn } from './scorecard';
import type { Spread } from './spread';

/** The scorecard as Markdown. */
export const renderScorecard = (card: Scorecard): string =>
  [
    '# Scorecard',
    'Written by `npm run chaos`, from what the public API, the counting effect server and the demo model say; not by hand.',
    table(['', ''], about(card)),
    '## Summary',
    table(['experiment', 'size', 'bars met', ''], card.results.map(toSummary)),
    ...card.results.flatMap(toChapter),
  ].join('\n\n') + '\n';

const about = ({ date, commit, command, scale, machine }: Scorecard): string[][] => [
  ['date', date],
  ['commit', `\`${commit}\``],
  ['command', `\`${command}\``],
  ['scale', scale],
  ['machine', `${machine.cpu}, ${machine.cores} cores, ${machine.memory_gib} GiB, Node ${machine.node}, ${machine.os}`],
];

const toSummary = (result: Result): string[] => {
  const bars = result.findings?.bars ?? [];
  const missed = missedIn(result);
  return [
    `[${result.name}](#${result.name})`,
    result.findings?.size ?? '',
    `${bars.filter(({ met }) => met).length} of ${bars.length}`,
    missed.length === 0 ? 'met' : `**missed**: ${missed.join(', ')}`,
  ];
};

const toChapter = ({ name, title, seconds, findings, error }: Result): string[] => [
  `## ${name}`,
  title,
  ...(error === undefined ? [] : [`It did not end: ${error.split('\n', 1)[0] ?? ''}`]),
  ...(findings ? listSections(findings, seconds) : []),
];

const listSections = (findings: Findings, seconds: number): string[] => [
  table(
    ['', ''],
    [
      ['size', findings.size],
      ['took', inWords(seconds * 1_000)],
      ['faults', listed(findings.faults)],
      ['counted', listed(findings.counts)],
    ],
  ),
  table(['bar', 'wanted', 'measured', ''], findings.bars.map(rowOfBar)),
  ...listTimes(findings.times),
  ...(findings.table ? [table(findings.table.head, findings.table.rows)] : []),
  ...(findings.details.length === 0 ? [] : [findings.details.map((detail) => `- ${detail}`).join('\n')]),
];

const rowOfBar = ({ what, wanted, measured, met }: Bar): string[] => [
  what,
  wanted,
  measured,
  met ? 'met' : '**missed**',
];

function listTimes(times: Findings['times']): string[] {
  const seen = Object.entries(times).filter((entry): entry is [string, Spread] => entry[1] !== undefined);
  if (seen.length === 0) return [];
  const rows = seen.map(([what, { count, p50, p95, p99, max }]) => [
    what,
    String(count),
    ...[p50, p95, p99, max].map(inWords),
  ]);
  return [table(['time', 'seen', 'p50', 'p95', 'p99', 'max'], rows)];
}

const listed = (amounts: Readonly<Record<string, number>>): string =>
  Object.entries(amounts)
    .map(([what, amount]) => `${what}: ${amount}`)
    .join(', ') || 'none';

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.map(cell).join(' | ')} |`).join('\n');

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
