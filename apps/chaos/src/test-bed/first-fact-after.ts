import type { Fact } from '@rondo/test-deployment';

/** The time from this moment to the run's next fact; empty when the run had ended. */
export function firstFactAfter(facts: readonly Fact[], moment: number): number[] {
  const next = facts.map(({ at }) => Date.parse(at)).find((at) => at > moment);
  return next === undefined ? [] : [next - moment];
}
