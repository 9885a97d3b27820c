import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repoRoot } from '../../../../deploy/local/repo-root.mjs';

/** What was seen of a provider in the runs of the tests. */
export interface ProviderOutcome {
  readonly name: string;
  readonly model: string;
  /** Whether the run ended as completed and each of its 50 commands ran exactly once. */
  readonly isWhole: boolean;
  /** Whether two calls of one reply were both answered. */
  readonly tookTwoAtOnce: boolean;
  /** Whether a client saw the first words of an answer before the last were sent. */
  readonly wasStreamed: boolean;
  /** The fields, blocks or items in which the model got its own thoughts back. */
  readonly thoughts: readonly string[];
  readonly efforts: readonly string[];
  readonly image: boolean;
  /** The forms in which it got an uploaded PDF. */
  readonly documents: readonly string[];
  readonly wentOnAfterOverflow: boolean;
  readonly wentOnAfterKill: boolean;
  /** What it refused once, and was not sent again. */
  readonly learned: readonly string[];
}

const document = join(repoRoot, 'docs/models.md');
const [begin, end] = ['<!-- `npm run models` writes from here … -->', '<!-- … to here -->'];

const heads = [
  ...['provider', 'model', '50 steps with tools', 'two calls at once', 'text as it comes', 'thoughts go back in'],
  ...['asked for effort `high`', 'image', 'uploaded PDF', 'prompt too long', 'worker killed', 'learned from a refusal'],
];

const toMark = (works: boolean): string => (works ? '✓' : '✗');
const toNames = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(', ');

const toCells = (outcome: ProviderOutcome): string[] => [
  `\`${outcome.name}\``,
  `\`${outcome.model}\``,
  toMark(outcome.isWhole),
  toMark(outcome.tookTwoAtOnce),
  toMark(outcome.wasStreamed),
  toNames(outcome.thoughts) || 'nothing',
  toNames(outcome.efforts) || 'not sent',
  outcome.image ? 'shown' : 'a note',
  toNames(outcome.documents) || 'its path',
  toMark(outcome.wentOnAfterOverflow),
  toMark(outcome.wentOnAfterKill),
  outcome.learned.join(', ') || 'nothing',
];

/** The rows are in the order of their providers. */
export const providerTable = (outcomes: readonly ProviderOutcome[]): string =>
  [heads, heads.map(() => '---'), ...outcomes.map(toCells)].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

/** The table as docs/models.md has it. */
export function readTable(): string {
  const text = readFileSync(document, 'utf8');
  return text.slice(text.indexOf(begin) + begin.length, text.indexOf(end)).trim();
}

export function documentTable(table: string): void {
  const text = readFileSync(document, 'utf8');
  const [before, after] = [text.slice(0, text.indexOf(begin)), text.slice(text.indexOf(end))];
  writeFileSync(document, `${before}${begin}\n\n${table}\n\n${after}`);
}
