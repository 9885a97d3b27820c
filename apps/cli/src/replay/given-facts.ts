import type { RecordedFact } from '@rondo/contract';

const givenTypes: readonly RecordedFact['type'][] = [
  'run.created',
  'run.forked',
  'run.resumed',
  'budget.raised',
  'approval.decided',
  'tool.resolved',
  'tool.input_given',
];

/** Whether another program than the loop has written the fact: a gateway, or the worker around the loop. */
export const isGiven = (fact: RecordedFact): boolean =>
  givenTypes.includes(fact.type) || (fact.type === 'message.created' && fact.data.message.type === 'user');

/** Another program has written the fact while the loop went on, which takes no notice of it. */
export const isBeside = ({ type }: RecordedFact): boolean => type.startsWith('secret.');

/** The index of the first fact that may be the run's own: a fork begins with the facts of another run. */
export const toStart = (facts: readonly RecordedFact[]): number =>
  facts.findLastIndex(({ type }) => type === 'run.forked') + 1;

/** The index after the last fact of the activation of the loop that begins at `start`. */
export function endOfActivation(facts: readonly RecordedFact[], start: number): number {
  const epoch = facts[start]?.epoch ?? 0;
  const end = facts.findIndex((fact, index) => index > start && (fact.epoch > epoch || isGiven(fact)));
  return end < 0 ? facts.length : end;
}
