export interface Interval {
  readonly low: number;
  readonly high: number;
}

/** Of the standard normal distribution, for 95 %. */
const z = 1.959964;

/** The 95 % interval of a share (E. B. Wilson, 1927): it also holds for few tasks, and for none or all of them right. */
export function wilson(right: number, total: number): Interval {
  if (total === 0) return { low: 0, high: 1 };
  const share = right / total;
  const scale = 1 + z ** 2 / total;
  const middle = (share + z ** 2 / (2 * total)) / scale;
  const half = (z / scale) * Math.sqrt((share * (1 - share)) / total + z ** 2 / (4 * total ** 2));
  return { low: Math.max(0, middle - half), high: Math.min(1, middle + half) };
}

const resamples = 10_000;

/**
 * The 95 % interval of the mean difference of tasks that both evaluations have, by a paired bootstrap (B. Efron and
 * R. Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13: percentiles). The same differences give the same interval.
 */
export function bootstrapPairs(differences: readonly number[]): Interval {
  const count = differences.length;
  if (count === 0) return { low: -1, high: 1 };
  const random = randomNumbers(count);
  const means = Float64Array.from({ length: resamples }, () => {
    let sum = 0;
    for (let drawn = 0; drawn < count; drawn++) sum += differences[Math.floor(random() * count)] ?? 0;
    return sum / count;
  }).sort();
  return { low: means[Math.floor(resamples * 0.025)] ?? -1, high: means[Math.ceil(resamples * 0.975) - 1] ?? 1 };
}

/** Numbers from 0 to 1 that are the same each time (mulberry32): two people see the same interval. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
