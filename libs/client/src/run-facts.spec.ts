import { factTypes } from '@rondo/contract';
import type { FactWithType } from './event-kinds.ts';
import type { Fact } from './generated/api.ts';
import { rowChange } from './row-changes.ts';
import { RunLog } from './run-log.ts';
import { type RunView, type ToolCallRow, emptyView } from './run-view.ts';
import { statusChanges } from './status-changes.ts';
import { unseenFacts } from './unseen-facts.ts';

type NewFact = { [Type in Fact['type']]: Pick<FactWithType<Type>, 'type' | 'data'> }[Fact['type']];

/** Facts with numbers and times: one second lies between two of them. */
function createView(...facts: NewFact[]): RunView {
  const log = new RunLog();
  facts.forEach((fact, index) => {
    const at = new Date(Date.UTC(2026, 0, 1) + index * 1_000).toISOString();
    const envelope = {
      id: `evt_${index}`,
      v: 1,
      run_id: 'run_1',
      thread_id: 'thread_1',
      iteration: 1,
      epoch: 1,
    } as const;
    log.apply({ ...envelope, ...fact, at, seq: index + 1 });
  });
  return log.view;
}

const callRow = (view: RunView): ToolCallRow => {
  const row = view.rows.find((each): each is ToolCallRow => each.kind === 'tool_call');
  if (!row) throw new Error('The view has no tool call.');
  return row;
};

const planned: NewFact = {
  type: 'tool.planned',
  data: {
    tool_call: {
      ...{ id: 'call_1', run_id: 'run_1', iteration: 1, index: 0, name: 'execute_command', dialect: 'native' },
      ...{ message_id: 'msg_1', started_at: null, finished_at: null },
      ...{ arguments: { command: 'echo call 1' }, attempt: 0, status: 'planned', effect_class: 'unsafe', result: null },
    },
  },
};
const requested: NewFact = {
  type: 'approval.requested',
  data: {
    ...{ approval_id: 'apr_1', tool_call_id: 'call_1', name: 'execute_command' },
    ...{ requested_at: '2026-01-01T00:00:01.000Z', expires_at: '2026-01-02T00:00:00.000Z' },
  },
};
const decided = (change: Partial<FactWithType<'approval.decided'>['data']>): NewFact => ({
  type: 'approval.decided',
  data: {
    ...{ approval_id: 'apr_1', tool_call_id: 'call_1', name: 'execute_command', outcome: 'approve' },
    ...{ decided_by: 'key_1', reason: null, arguments_hash: 'f00' },
    ...change,
  },
});
const started: NewFact = {
  type: 'tool.started',
  data: { tool_call_id: 'call_1', name: 'execute_command', attempt: 1, store: null },
};

describe('what a RunLog knows of facts', () => {
  it.each(factTypes)('shows %s, or says why it does not', (type) => {
    const tables = [readsTable(rowChange, type), readsTable((fact) => statusChanges(emptyView, fact), type)];
    const reason = (unseenFacts as Readonly<Record<string, string>>)[type];
    expect(tables.includes(true)).toBe(reason === undefined);
  });

  it('shows a call that a person edited with the arguments that it is sent with', () => {
    const edited = decided({ outcome: 'edit', arguments: { command: 'echo edited' }, reason: 'quieter' });
    expect(callRow(createView(planned, requested, edited, started))).toMatchObject({
      arguments: { command: 'echo edited' },
      argumentsText: '{"command":"echo edited"}',
      replacedArguments: { command: 'echo call 1' },
      approval: { id: 'apr_1', decision: { outcome: 'edit', decidedBy: 'key_1', reason: 'quieter' } },
    });
  });

  it('shows who denied a call, and why', () => {
    const row = callRow(createView(planned, requested, decided({ outcome: 'deny', reason: 'not today' })));
    expect(row.approval?.decision).toMatchObject({ outcome: 'deny', decidedBy: 'key_1', reason: 'not today' });
    expect(row.replacedArguments).toBeNull();
    expect(callRow(createView(planned, requested)).approval).toMatchObject({ id: 'apr_1', decision: null });
  });

  it('shows a lost MCP server and a raised budget as lines of their own', () => {
    const view = createView(
      { type: 'mcp.skipped', data: { server: 'fake', reason: '127.0.0.1 is not a public address.' } },
      { type: 'mcp.connected', data: { server: 'other', tools: ['other__hello'], refused: [] } },
      { type: 'budget.raised', data: { usd: 2, raised_by: 'key_1' } },
    );
    const types = view.rows.flatMap((row) => (row.kind === 'note' ? row.fact.type : []));
    expect(types).toEqual(['mcp.skipped', 'mcp.connected', 'budget.raised']);
  });

  it('says how long a call ran that its worker has not measured', () => {
    const result = { success: false, output: '', error: 'The run was stopped while this tool ran; it was killed.' };
    const data = { tool_call_id: 'call_1', name: 'execute_command', result, duration_ms: 0, message_id: 'msg_1' };
    const killed: NewFact = { type: 'tool.failed', data };
    expect(callRow(createView(planned, started, killed)).durationMs).toBe(1_000);
    expect(callRow(createView(planned, killed)).durationMs).toBe(0);
  });
});

/** Whether the table has an entry for the type: it reads the data of the fact, or answers without it. */
function readsTable(table: (fact: Fact) => unknown, type: string): boolean {
  const reads: unknown[] = [];
  const data = new Proxy({}, { get: (_, name) => (reads.push(name), {}) });
  try {
    const answer = table({ id: 'evt_1', type, iteration: 1, data } as unknown as Fact);
    return reads.length > 0 || (answer !== undefined && Object.keys(answer as object).length > 0);
  } catch {
    return reads.length > 0;
  }
}
