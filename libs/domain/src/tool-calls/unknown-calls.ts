import { type CallId, type DialectName, type MessageId, type NewFact, type ToolCall, boundText } from '@rondo/contract';
import type { AgentPorts } from '../ports';
import type { ClaimedRun } from '../run/claim';

/** A call that was sent and is not in the log of its run, because its database was replaced by one that lacks it. */
export interface LostCall {
  readonly id: CallId;
  readonly name: string;
  /** Its arguments as JSON, of which the end may be cut. */
  readonly calledWith: string;
}

type Holding = Pick<ClaimedRun, 'runId' | 'threadId' | 'run'>;

const reason = 'The database that recorded this call was lost.';

/**
 * What the first holder records after a database was replaced. The calls that it lacks are unknown (I5): they are not sent
 * again, and the model is told, since it does not know that it has made them.
 */
export function noteReplacedDatabase(
  { runId, threadId, run }: Holding,
  lostCalls: readonly LostCall[],
  ids: Pick<AgentPorts['ids'], 'messageId'>,
): NewFact[] {
  const iteration = Math.max(1, run.iteration);
  const unknown_calls = lostCalls.map(({ id, name }) => ({ tool_call_id: id, name }));
  const replaced: NewFact = { type: 'database.replaced', iteration, data: { unknown_calls } };
  if (lostCalls.length === 0) return [replaced];

  const message_id = ids.messageId();
  const { dialect } = run.settings.processor;
  const notice: NewFact = {
    type: 'message.created',
    iteration,
    data: {
      message: {
        ...{ id: message_id, thread_id: threadId, run_id: runId, iteration, type: 'user', is_llm_message: true },
        content: [{ type: 'text', text: explain(lostCalls) }],
        metadata: { database_replaced: true },
      },
    },
  };
  const calls = lostCalls.flatMap((call, index): NewFact[] => [
    {
      type: 'tool.planned',
      iteration,
      data: { tool_call: toPlannedCall(call, { runId, iteration, index, message_id, dialect }) },
    },
    {
      type: 'tool.unknown',
      iteration,
      data: { tool_call_id: call.id, name: call.name, message_id, reason },
    },
  ]);
  return [replaced, ...calls, notice];
}

interface Place {
  readonly runId: ToolCall['run_id'];
  readonly iteration: number;
  readonly index: number;
  readonly message_id: MessageId;
  readonly dialect: DialectName;
}

const toPlannedCall = ({ id, name, calledWith }: LostCall, { runId, ...place }: Place): ToolCall => ({
  id,
  run_id: runId,
  ...place,
  name,
  arguments: readArguments(calledWith),
  ...{ effect_class: 'unsafe', status: 'planned', result: null, attempt: 1, started_at: null, finished_at: null },
});

/** Those that were cut are no JSON. */
function readArguments(calledWith: string): ToolCall['arguments'] {
  try {
    return JSON.parse(calledWith) as ToolCall['arguments']; // an executor has written it from a record
  } catch {
    return { cut: calledWith };
  }
}

const shownCalls = 20;

const explain = (lostCalls: readonly LostCall[]): string =>
  [
    'Note from the system: the last part of this conversation was lost, because its database was replaced. In it you made these calls, which may have taken effect or not:',
    ...lostCalls.slice(0, shownCalls).map(({ name, calledWith }) => `- ${name} ${boundText(calledWith)}`),
    ...(lostCalls.length > shownCalls ? [`- and ${lostCalls.length - shownCalls} more`] : []),
    'They are not sent again. Check what they have done before you do it again.',
  ].join('\n');
