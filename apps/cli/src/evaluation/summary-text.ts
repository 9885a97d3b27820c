import type { Interval } from './statistics';
import type { Summary } from './summary';

export const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
export const intervalText = ({ low, high }: Interval): string => `${percent(low)} to ${percent(high)}`;

export const costText = (costUsd: number, unpriced: number): string =>
  `$${costUsd.toFixed(4)}${unpriced > 0 ? ` (${unpriced} unknown)` : ''}`;

export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

export const scoreText = ({ right, scored, interval }: Summary): string =>
  scored === 0
    ? 'none scored'
    : `${right} of ${scored} right (${percent(right / scored)}; 95 %: ${intervalText(interval)})`;

/** The sum of an evaluation, for a person. */
export function toSentence(summary: Summary): string {
  const { tasks, unjudged, errors, costUsd, unpriced, judging } = summary;
  const open = unjudged === 0 ? '' : `${unjudged} unjudged, `;
  const judged = judging.answers === 0 ? '' : ` and ${costText(judging.costUsd, judging.unpriced)} for the judge`;
  const problems = `${open}${counted(errors, 'error')}`;
  return `${counted(tasks, 'task')}: ${scoreText(summary)}, ${problems}, ${costText(costUsd, unpriced)}${judged}.`;
}
