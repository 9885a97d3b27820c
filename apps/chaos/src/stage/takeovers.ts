import type { Fact } from '@rondo/test-deployment';

/**
 * How long runs lay still after their worker was killed: from the kill to the first fact of the next holder. Who held a
 * run is not public, so it is derived: between the last fact of one epoch and the first of the next, the worker that held
 * the run was killed. Of several kills in between the earliest counts, unless a whole epoch left no fact: then its holder
 * was killed as well, and the latest kill counts that can have been noticed since. A change of epoch that came sooner than
 * a death is noticed was no takeover but a hand-over.
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
