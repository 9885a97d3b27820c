import type { Fact } from '@rondo/test-deployment';

/**
 * The times from the kill of a run's worker to the first fact of the next holder. The API does not say which worker holds
 * a run, so the kill is derived: it lies between the last fact of one epoch and the first of the next. Of several kills
 * the earliest counts. When an epoch left no fact, its holder was killed too, and the latest kill counts that can have
 * been detected. A change of epoch sooner than a death can be detected was a hand-over.
 */
export function takeovers(facts: readonly Fact[], kills: readonly number[], noticedAfterMs: number): number[] {
  return facts.flatMap((next, index) => {
    const last = facts[index - 1];
    if (!last || last.epoch === 0 || next.epoch === last.epoch) return [];
    const [from, to] = [Date.parse(last.at), Date.parse(next.at)];
    const between = kills.filter((kill) => kill >= from && to - kill >= noticedAfterMs);
    const kill = next.epoch === last.epoch + 1 ? between[0] : between.at(-1);
    return kill === undefined ? [] : [to - kill];
  });
}

/** The time from this moment to the run's next fact; empty when the run had ended. */
export function firstFactAfter(facts: readonly Fact[], moment: number): number[] {
  const next = facts.map(({ at }) => Date.parse(at)).find((at) => at > moment);
  return next === undefined ? [] : [next - moment];
}
