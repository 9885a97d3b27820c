import type { Interval } from './statistics';
import type { Summary } from './summary';

export const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
export const intervalText = ({ low, high }: Interval): string => `${percent(low)} to ${percent(high)}`;

/** The sum of an evaluation, for a person. */
export function sentenceOf({ right, scored, interval, errors, costUsd, unpriced, tasks }: Summary): string {
  const score =
    scored === 0
      ? 'no true answers'
      : `${right} of ${scored} right (${percent(right / scored)}; 95 %: ${intervalText(interval)})`;
  const cost = `$${costUsd.toFixed(4)}${unpriced > 0 ? ` and ${unpriced} tasks without a price` : ''}`;
  return `${tasks} tasks: ${score}, ${errors} errors, ${cost}.`;
}
