import { type Bar, type Findings, inWords } from './findings';
import { type Machine, type Scorecard, listMissed } from './scorecard';
import type { Spread } from './spread';

/** The scorecard as Markdown. */
export const renderScorecard = ({ scale, results }: Scorecard): string =>
  [
    '# Scorecard',
    'Written by `npm run chaos`, from what the public API, the counting effect server and the demo model say; not by hand. An ' +
      'experiment that is done again replaces its chapter.',
    `Scale: ${scale}.`,
    '## Summary',
    table(['experiment', 'size', 'bars met', '', 'commit', 'date'], results.map(toSummary)),
    ...results.flatMap(toChapter),
  ].join('\n\n') + '\n';

const inOneLine = ({ cpu, cores, memory_gib: memory, node, os }: Machine): string =>
  `${cpu}, ${cores} cores, ${memory} GiB, Node ${node}, ${os}`;

const toSummary = (result: Scorecard['results'][number]): string[] => {
  const bars = result.findings?.bars ?? [];
  const missed = listMissed(result);
  return [
    `[${result.name}](#${result.name})`,
    result.findings?.size ?? '',
    `${bars.filter(({ met }) => met).length} of ${bars.length}`,
    missed.length === 0 ? 'met' : `**missed**: ${missed.join(', ')}`,
    `\`${result.commit}\``,
    result.date.slice(0, 10),
  ];
};

const toChapter = ({ name, title, seconds, findings, error, machine }: Scorecard['results'][number]): string[] => [
  `## ${name}`,
  title,
  ...(error === undefined ? [] : [`It did not end: ${error.split('\n', 1)[0] ?? ''}`]),
  ...(findings ? listSections(findings, { seconds, machine }) : []),
];

const listSections = (findings: Findings, { seconds, machine }: { seconds: number; machine: Machine }): string[] => [
  table(
    ['', ''],
    [
      ['size', findings.size],
      ['took', inWords(seconds * 1_000)],
      ['machine', inOneLine(machine)],
      ['faults', listAmounts(findings.faults)],
      ['counted', listAmounts(findings.counts)],
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

const listAmounts = (amounts: Readonly<Record<string, number>>): string =>
  Object.entries(amounts)
    .map(([what, amount]) => `${what}: ${amount}`)
    .join(', ') || 'none';

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.map(cell).join(' | ')} |`).join('\n');

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
