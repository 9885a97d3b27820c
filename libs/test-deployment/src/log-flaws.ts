import { type Fact, isTerminal } from './rondo-client';

/**
 * What must be true of the log of a run that is over, however it came about (I2, I3, I5, I6): contiguous, epochs never
 * go back, each planned call has one last word, one terminal fact, and that is the last. Returns what is not.
 */
export function logFlaws(facts: readonly Fact[]): string[] {
  return [...misplaced(facts), ...backwards(facts), ...unanswered(facts), ...endings(facts)];
}

const misplaced = (facts: readonly Fact[]): string[] =>
  facts.flatMap(({ seq }, index) => (seq === index + 1 ? [] : `place ${index + 1} holds seq ${seq}`)).slice(0, 1);

const backwards = (facts: readonly Fact[]): string[] =>
  facts.flatMap(({ seq, epoch }, index) => {
    const before = facts[index - 1]?.epoch ?? 0;
    return epoch >= before ? [] : `seq ${seq} was written by epoch ${epoch}, after epoch ${before}`;
  });

function unanswered(facts: readonly Fact[]): string[] {
  const lastWords = facts.filter(
    ({ type, data }) =>
      type === 'tool.completed' || type === 'tool.failed' || (type === 'tool.unknown' && data.message_id !== undefined),
  );
  const answers = lastWords.map(({ data }) => String(data.tool_call_id));
  const calls = facts.flatMap(({ type, data }) => (type === 'tool.planned' ? (data.tool_call as { id: string }) : []));
  const planned = calls.map(({ id }) => id);
  return [
    ...planned.filter((id) => !answers.includes(id)).map((id) => `${id} has no answer`),
    ...answers.filter((id) => !planned.includes(id)).map((id) => `${id} was never planned`),
    ...answers.filter((id, index) => answers.indexOf(id) !== index).map((id) => `${id} was answered twice`),
  ];
}

function endings(facts: readonly Fact[]): string[] {
  const ends = facts.filter(isTerminal);
  if (ends.length !== 1) return [`${ends.length} terminal facts`];
  return ends[0] === facts.at(-1) ? [] : ['facts after the end'];
}
