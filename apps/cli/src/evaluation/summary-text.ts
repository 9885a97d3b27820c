import type { Interval } from './statistics';
import type { Summary } from './summary';

export const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
export const intervalText = ({ low, high }: Interval): string => `${percent(low)} to ${percent(high)}`;

export const costText = (costUsd: number, unpriced: number): string =>
  `$${costUsd.toFixed(4)}${unpriced > 0 ? ` (${unpriced} unknown)` : ''}`;

export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** The sum of an evaluation, for a person. */
export function sentenceOf({ right, scored, interval, unjudged, errors, tasks, judging, ...sums }: Summary): string {
  const score =
    scored === 0
      ? 'none scored'
      : `${right} of ${scored} right (${percent(right / scored)}; 95 %: ${intervalText(interval)})`;
  const open = unjudged === 0 ? '' : `${unjudged} unjudged, `;
  const judged = judging.answers === 0 ? '' : ` and ${costText(judging.costUsd, judging.unpriced)} for the judge`;
  return `${counted(tasks, 'task')}: ${score}, ${open}${counted(errors, 'error')}, ${costText(sums.costUsd, sums.unpriced)}${judged}.`;
}
