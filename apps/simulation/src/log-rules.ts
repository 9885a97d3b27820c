import {
  type CallId,
  type RecordedFact,
  addUsage,
  noUsage,
  recordedFact,
  isTerminalFact,
  toShownEvent,
} from '@rondo/contract';
import { builtInTools, stoppedWithError } from '@rondo/domain';

/** What must be true of the log of every run that has ended. */
export const brokenLogRules = (log: readonly RecordedFact[]): string[] => [
  ...brokenOrder(log),
  ...brokenIterations(log),
  ...brokenEnd(log),
  ...[...listCalls(log)].flatMap(([id, facts]) => brokenCall(id, facts)),
  ...brokenResults(log),
];

function brokenOrder(log: readonly RecordedFact[]): string[] {
  const isContiguous = log.every(({ seq }, at) => seq === at + 1);
  const isFenced = log.every(({ epoch }, at) => epoch >= (log[at - 1]?.epoch ?? 0));
  const misshapen = log.filter((fact) => !recordedFact.safeParse(toShownEvent(fact)).success);
  return [
    ...(isContiguous ? [] : ['I2: seq has a gap']),
    ...(isFenced ? [] : ['I3: an older epoch wrote after a later one']),
    ...misshapen.map(({ seq, type }) => `fact ${seq}, ${type}, is not what its schema says`),
  ];
}

const usualFailures = ['model_no_reply', 'model_refused', 'too_many_malformed_calls', 'max_duration_exceeded'] as const;

/** One terminal fact, the last one, with the usage; it is a stop if a stop was requested first. */
function brokenEnd(log: readonly RecordedFact[]): string[] {
  const last = log.at(-1);
  if (!last || log.filter(isTerminalFact).length !== 1 || !isTerminalFact(last))
    return ['I2: a run ends once, and nothing comes after it'];

  const told = log.find((fact) => fact.type === 'run.stop_requested');
  const bills = log.flatMap((fact) => (fact.type === 'usage.recorded' ? [fact.data] : []));
  const { input_tokens: cost } = bills.reduce(addUsage, noUsage);
  const stated = 'usage' in last.data ? last.data.usage.input_tokens : undefined;
  const code = last.type === 'run.failed' ? last.data.error.code : undefined;
  return [
    ...(isEndByStop(told, last) ? [] : [`I7: it ended by ${last.type}, told to stop: ${JSON.stringify(told?.data)}`]),
    ...(stated === cost ? [] : [`it cost ${cost} tokens and says ${stated ?? 'nothing'}`]),
    ...(code === undefined || told || usualFailures.some((usual) => usual === code) ? [] : [`it failed by ${code}`]),
  ];
}

type StopFact = Extract<RecordedFact, { type: 'run.stop_requested' }>;

/** A run that was told to stop ends as it was told: as stopped, or failed with the error of the stop. No other does. */
function isEndByStop(told: StopFact | undefined, last: RecordedFact): boolean {
  const error = last.type === 'run.failed' ? last.data.error : undefined;
  const isStopped = last.type === 'run.stopped' || error?.code === stoppedWithError;
  if (!told) return !isStopped;
  return isStopped && error?.message === told.data.error;
}

/** Iterations are numbered in order, each has one reply (possibly in parts), and no facts after its completion (I4). */
function brokenIterations(log: readonly RecordedFact[]): string[] {
  const broken: string[] = [];
  let current = 0;
  let isCompleted = true;
  let reply: string | undefined;
  for (const fact of log) {
    if (fact.type === 'iteration.started') {
      if (!isCompleted || fact.data.iteration !== current + 1) broken.push(`iteration ${current + 1} began wrongly`);
      current = fact.data.iteration;
      isCompleted = false;
      reply = undefined;
    }
    if (fact.type === 'iteration.completed') {
      if (isCompleted || fact.data.iteration !== current) broken.push(`iteration ${current} was completed wrongly`);
      isCompleted = true;
    }
    if (fact.type === 'message.created' && fact.data.message.type === 'assistant') {
      const base = /^(msg_\d+)(?:p\w+)?$/.exec(fact.data.message.id)?.[1];
      if (isCompleted) broken.push(`a reply came after iteration ${current}`);
      if (reply !== undefined && base !== reply) broken.push(`I4: iteration ${current} has two replies`);
      reply = base;
    }
  }
  return broken;
}

function listCalls(log: readonly RecordedFact[]): Map<CallId, RecordedFact[]> {
  const calls = new Map<CallId, RecordedFact[]>();
  for (const fact of log) {
    const id =
      fact.type === 'tool.planned'
        ? fact.data.tool_call.id
        : 'tool_call_id' in fact.data
          ? fact.data.tool_call_id
          : undefined;
    if (id !== undefined && id !== null) calls.set(id, [...(calls.get(id) ?? []), fact]);
  }
  return calls;
}

/** planned, then started once per attempt, then answered once (I5). */
function brokenCall(id: CallId, facts: readonly RecordedFact[]): string[] {
  const attempts = facts.flatMap((fact) => (fact.type === 'tool.started' ? [fact.data.attempt] : []));
  const told = facts.filter((fact) => 'message_id' in fact.data && fact.data.message_id !== undefined);
  const answer = facts.findLast(({ type }) => type !== 'tool.planned' && type !== 'tool.started');
  const planned = facts.filter(({ type }) => type === 'tool.planned').length;
  const isExecuted = answer?.type === 'tool.completed' && 'name' in answer.data && isTool(answer.data.name);
  return [
    ...(planned === 1 && facts[0]?.type === 'tool.planned' ? [] : [`I5: ${id} was planned ${planned} times`]),
    ...(attempts.every((attempt, at) => attempt === at + 1) ? [] : [`I5: ${id} has the attempts ${attempts.join()}`]),
    ...(told.length === 1 && told[0] === facts.at(-1) ? [] : [`I5: ${id} was answered ${told.length} times`]),
    ...(isExecuted && attempts.length === 0 ? [`I5: ${id} is completed and was never started`] : []),
  ];
}

const isTool = (name: string): boolean => builtInTools.named(name) !== undefined;

/** Every call of the model has one result message, equal to the result in its fact (I6). */
function brokenResults(log: readonly RecordedFact[]): string[] {
  const blocks = log.flatMap((fact) => (fact.type === 'message.created' ? fact.data.message.content : []));
  const written = blocks.flatMap((block) => (block.type === 'tool_call' ? [block.tool_call_id] : []));
  const results = blocks.flatMap((block) => (block.type === 'tool_result' ? [block.tool_call_id] : []));
  const planned = log.flatMap((fact) => (fact.type === 'tool.planned' ? [fact.data.tool_call.id] : []));
  const same = (a: readonly string[], b: readonly string[]) => a.toSorted().join() === b.toSorted().join();
  return [
    ...(same(written, planned) ? [] : ['I4: the calls in its words are not the calls in its ledger']),
    ...(same(planned, results) ? [] : ['I6: its calls and its results do not pair']),
  ];
}
