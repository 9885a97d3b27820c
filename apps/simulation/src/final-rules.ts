import { type CallId, type Delta, type Message, type RecordedFact, type ToolCall, isTerminal } from '@rondo/contract';
import { builtInTools } from '@rondo/domain';
import type { InvariantChecker } from './invariant-checker';
import { brokenLogRules } from './log-rules';
import type { RunRow } from './simulated-run-row';
import type { SimulatedStore } from './simulated-store';

/** What must be true when a world has ended. */
export function brokenFinalRules(store: SimulatedStore, inspector: InvariantChecker): string[] {
  const rows = [...store.rows.values()];
  return [
    ...rows.flatMap((row) => [
      ...findUnfinished(row),
      ...brokenLogRules(row.log).map((rule) => `${row.run.id}: ${rule}`),
      ...untrueEffects(row, inspector),
      ...untrueStreams(row, inspector),
    ]),
    ...[...store.threads.values()].flatMap((thread) => brokenThread(thread, rows)),
  ];
}

const findUnfinished = ({ run, owner, holdsThread }: RunRow): string[] => [
  ...(isTerminal(run.status) ? [] : [`I1: ${run.id} never ended: it is ${run.status}`]),
  ...(owner === undefined && !holdsThread ? [] : [`I1: ${run.id} is over and still held`]),
];

/** A thread contains exactly the messages in its runs' logs, in one order without a gap. */
function brokenThread(thread: readonly Message[], rows: readonly RunRow[]): string[] {
  const told = rows.flatMap(({ log }) =>
    log.flatMap((fact) =>
      fact.type === 'message.created' && fact.thread_id === thread[0]?.thread_id ? [fact.data.message] : [],
    ),
  );
  const isOrdered = thread.every(({ seq }, at) => seq === at + 1);
  const isTold = told.length === thread.length && new Set(told.map(({ id }) => id)).size === told.length;
  return isOrdered && isTold ? [] : [`I2: ${thread[0]?.thread_id ?? ''} does not hold what its logs tell`];
}

const answers = ['tool.completed', 'tool.failed', 'tool.unknown'] as const;

/** A call had an effect in the world if the log says so, and none if the log says that it had none. */
function untrueEffects({ log }: RunRow, inspector: InvariantChecker): string[] {
  const calls = log.flatMap((fact) => (fact.type === 'tool.planned' ? [fact.data.tool_call] : []));
  return calls.flatMap((call) => {
    const own = log.filter(({ data }) => 'tool_call_id' in data && data.tool_call_id === call.id);
    const answer = own.findLast(({ type }) => answers.some((known) => known === type));
    return answer ? untrueAnswer({ call, own, answer }, inspector.listEffects(call.id)) : [];
  });
}

interface AnsweredCall {
  readonly call: ToolCall;
  readonly own: readonly RecordedFact[];
  readonly answer: RecordedFact;
}

function untrueAnswer({ call, own, answer }: AnsweredCall, effects: readonly number[]): string[] {
  const isExecutors = builtInTools.named(call.name)?.runsIn === 'executor';
  const isStarted = own.some(({ type }) => type === 'tool.started');
  if (answer.type === 'tool.completed' && isExecutors && effects.length === 0)
    return [`I5: ${call.id} is completed, and never happened`];
  if (answer.type === 'tool.failed' && !isStarted && effects.length > 0)
    return [`I5: ${call.id} stepsTaken, and the log says it was never started`];
  if (answer.type !== 'tool.failed' || !String(answer.data.result.error).includes('it was killed')) return [];
  const beganAt = Date.UTC(2026, 0, 1);
  return effects.some((at) => beganAt + at > Date.parse(answer.at)) ? [`I7: ${call.id} happened after its death`] : [];
}

/** The deltas of a message, joined, equal its stored text; deltas of messages that were not stored were withdrawn (I13). */
function untrueStreams({ log, run }: RunRow, { streams }: InvariantChecker): string[] {
  const stored = log.flatMap((fact) =>
    fact.type === 'message.created' && fact.data.message.type === 'assistant' ? [fact.data.message] : [],
  );
  const different = stored.filter(
    (message) =>
      toText(message, 'text') !== (streams.get(message.id)?.text['message.delta'] ?? '') ||
      toText(message, 'reasoning') !== (streams.get(message.id)?.text['reasoning.delta'] ?? ''),
  );
  const settled = listSettledStreams(log);
  const open = [...streams].filter(([id, { runId, text }]) => runId === run.id && hasWords(text) && !settled.has(id));
  return [
    ...different.map(({ id }) => `I13: what was shown of ${id} is not what is stored`),
    ...open.map(([id]) => `I13: ${id} was shown, and neither stored nor withdrawn`),
  ];
}

const hasWords = (text: Record<Delta['type'], string>): boolean => text['message.delta'].trim() !== '';

function listSettledStreams(log: readonly RecordedFact[]): Set<string> {
  const settled = new Set<string>();
  for (const fact of log) {
    if (fact.type === 'message.created') settled.add(fact.data.message.id);
    if (fact.type === 'tool.planned') settled.add(fact.data.tool_call.id satisfies CallId);
    if (fact.type === 'iteration.restarted') fact.data.withdrawn_stream_ids.forEach((id) => settled.add(id));
  }
  return settled;
}

const toText = ({ content }: Message, type: 'text' | 'reasoning'): string =>
  content.map((block) => (block.type === type && 'text' in block ? block.text : '')).join('');
