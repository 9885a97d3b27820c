import type { Fact } from '@rondo/test-deployment';

/** How long after this moment the run went on; nothing when it was over by then. */
export function firstFactAfter(facts: readonly Fact[], moment: number): number[] {
  const next = facts.map(({ at }) => Date.parse(at)).find((at) => at > moment);
  return next === undefined ? [] : [next - moment];
}
