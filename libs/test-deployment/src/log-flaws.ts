import { isTerminalFact } from '@rondo/contract';
import { type Fact } from './rondo-client';

/**
 * Checks the log of a run that has ended (I2, I3, I5, I6): `seq` is contiguous, epochs never decrease, each planned call
 * has exactly one result, and exactly one terminal fact stands at the end. Returns a description of each violation.
 */
export function logFlaws(facts: readonly Fact[]): string[] {
  return [...gaps(facts), ...epochDecreases(facts), ...findUnanswered(facts), ...endings(facts)];
}

const gaps = (facts: readonly Fact[]): string[] =>
  facts.flatMap(({ seq }, index) => (seq === index + 1 ? [] : `position ${index + 1} holds seq ${seq}`)).slice(0, 1);

const epochDecreases = (facts: readonly Fact[]): string[] =>
  facts.flatMap(({ seq, epoch }, index) => {
    const before = facts[index - 1]?.epoch ?? 0;
    return epoch >= before ? [] : `seq ${seq} was written by epoch ${epoch}, after epoch ${before}`;
  });

function findUnanswered(facts: readonly Fact[]): string[] {
  const results = facts.filter(
    ({ type, data }) =>
      type === 'tool.completed' || type === 'tool.failed' || (type === 'tool.unknown' && data.message_id !== undefined),
  );
  const answers = results.map(({ data }) => String(data.tool_call_id));
  const calls = facts.flatMap(({ type, data }) => (type === 'tool.planned' ? (data.tool_call as { id: string }) : []));
  const planned = calls.map(({ id }) => id);
  return [
    ...planned.filter((id) => !answers.includes(id)).map((id) => `${id} has no answer`),
    ...answers.filter((id) => !planned.includes(id)).map((id) => `${id} was never planned`),
    ...answers.filter((id, index) => answers.indexOf(id) !== index).map((id) => `${id} was answered twice`),
  ];
}

function endings(facts: readonly Fact[]): string[] {
  const ends = facts.filter(isTerminalFact);
  if (ends.length !== 1) return [`${ends.length} terminal facts`];
  return ends[0] === facts.at(-1) ? [] : ['facts after the end'];
}
