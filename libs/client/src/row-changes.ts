import { type FactTable, lookUp } from './fact-table.ts';
import type { Fact, ToolCompleted, ToolFailed } from './generated/api.ts';
import { type NoteRow, type RunRow, type ToolCallRow, messageRow, toolCallRow } from './run-view.ts';

/** What a fact does to one row: adds it, or changes the one that is there. */
export interface RowChange {
  readonly id: string;
  readonly add?: RunRow;
  readonly update: (row: RunRow) => RunRow;
}

const add = (row: RunRow): RowChange => ({ id: row.id, add: row, update: () => row });

/** A call whose plan retention has deleted has no row. */
const ofCall = (id: string, change: Partial<ToolCallRow>): RowChange => ({
  id,
  update: (row) => (row.kind === 'tool_call' ? { ...row, ...change } : row),
});

const answered =
  (status: 'completed' | 'failed') =>
  ({ data: { tool_call_id: id, result, duration_ms: durationMs } }: ToolCompleted | ToolFailed): RowChange =>
    ofCall(id, { status, result, output: result.output, durationMs, reason: null });

const note = (fact: NoteRow['fact']): RowChange => add({ kind: 'note', id: fact.id, iteration: fact.iteration, fact });

const table: FactTable<RowChange | undefined> = {
  // the results of tools are shown with their calls
  'message.created': ({ data: { message } }) => (message.type === 'tool' ? undefined : add(messageRow(message))),
  'tool.planned': ({ data }) => add(toolCallRow(data.tool_call)),
  'tool.started': ({ data: { tool_call_id: id, attempt } }) =>
    ofCall(id, { status: 'dispatched', attempt, output: '', reason: null }),
  'tool.completed': answered('completed'),
  'tool.failed': answered('failed'),
  'tool.unknown': ({ data: { tool_call_id: id, reason } }) => ofCall(id, { status: 'unknown', output: '', reason }),
  'tool.resolved': note,
  'iteration.restarted': note,
  'model.retried': note,
  'model.fell_back': note,
  'context.compaction_started': note,
  'context.compacted': note,
  'context.compaction_failed': note,
  'run.forked': note,
};

export const rowChange = (fact: Fact): RowChange | undefined => lookUp(table, fact);
