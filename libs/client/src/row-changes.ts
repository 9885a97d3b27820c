import { type FactTable, lookUp } from './event-kinds.ts';
import type { ApprovalDecided, Fact, ToolCompleted, ToolFailed } from './generated/api.ts';
import { type NoteRow, type RunRow, type ToolCallRow, messageRow, toolCallRow } from './run-view.ts';

/** What a fact does to one row: adds it, or changes the one that is there. */
export interface RowChange {
  readonly id: string;
  readonly add?: RunRow;
  readonly update: (row: RunRow) => RunRow;
}

const add = (row: RunRow): RowChange => ({ id: row.id, add: row, update: () => row });

type CallChange = Partial<ToolCallRow> | ((row: ToolCallRow) => Partial<ToolCallRow>);

/** A call whose plan retention has deleted has no row. */
const changeCall = (id: string, change: CallChange): RowChange => ({
  id,
  update: (row) =>
    row.kind === 'tool_call' ? { ...row, ...(typeof change === 'function' ? change(row) : change) } : row,
});

const changeAnswered =
  (status: 'completed' | 'failed') =>
  ({ at, data: { tool_call_id: id, result, duration_ms: durationMs } }: ToolCompleted | ToolFailed): RowChange =>
    changeCall(id, (row) => ({
      ...{ status, result, output: result.output, reason: null },
      durationMs: durationMs > 0 ? durationMs : ranFor(row, at),
    }));

/** A worker that ends a call itself, for example in a stop, has not measured it: the facts say how long it ran. */
const ranFor = ({ startedAt }: ToolCallRow, endedAt: string): number =>
  startedAt === null ? 0 : Math.max(0, Date.parse(endedAt) - Date.parse(startedAt));

function decide({ at, data }: ApprovalDecided): RowChange {
  const { outcome, reason, arguments: sent } = data;
  return changeCall(data.tool_call_id, (row) => ({
    approval: {
      id: data.approval_id,
      requestedAt: row.approval?.requestedAt ?? at,
      expiresAt: row.approval?.expiresAt ?? at,
      decision: { outcome, decidedBy: data.decided_by, decidedAt: at, reason },
    },
    ...(sent && { arguments: sent, argumentsText: JSON.stringify(sent), replacedArguments: row.arguments }),
  }));
}

const note = (fact: NoteRow['fact']): RowChange => add({ kind: 'note', id: fact.id, iteration: fact.iteration, fact });

const table = {
  // the results of tools are shown with their calls
  'message.created': ({ data: { message } }) => (message.type === 'tool' ? undefined : add(messageRow(message))),
  'tool.planned': ({ data }) => add(toolCallRow(data.tool_call)),
  'tool.started': ({ at: startedAt, data: { tool_call_id: id, attempt } }) =>
    changeCall(id, { status: 'dispatched', attempt, startedAt, output: '', reason: null }),
  'tool.completed': changeAnswered('completed'),
  'tool.failed': changeAnswered('failed'),
  'tool.unknown': ({ data: { tool_call_id: id, reason } }) => changeCall(id, { status: 'unknown', output: '', reason }),
  'tool.resolved': note,
  'tool.input_requested': note,
  'tool.input_given': note,
  'tool.task_created': note,
  'iteration.restarted': note,
  'model.retried': note,
  'model.fell_back': note,
  'context.compaction_started': note,
  'context.compacted': note,
  'context.compaction_failed': note,
  'run.forked': note,
  'secret.requested': note,
  'secret.decided': note,
  'approval.requested': ({ data: { approval_id: id, tool_call_id: callId, requested_at, expires_at } }) =>
    changeCall(callId, { approval: { id, requestedAt: requested_at, expiresAt: expires_at, decision: null } }),
  'approval.decided': decide,
  'budget.raised': note,
  'mcp.connected': note,
  'mcp.skipped': note,
  'workspace.preparing': note,
  'workspace.prepared': note,
  'workspace.rewinding': note,
  'workspace.rewound': note,
  'database.replaced': note,
} satisfies FactTable<RowChange | undefined>;

/** The types of facts that change rows. */
export type RowFactType = keyof typeof table;

export const rowChange = (fact: Fact): RowChange | undefined => lookUp<RowChange | undefined>(table, fact);
