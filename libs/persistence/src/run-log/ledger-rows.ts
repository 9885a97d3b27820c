import type { CallId, NewFact, ToolCall, ToolCallStatus } from '@rondo/contract';

/** How facts change a call of the effect ledger. Null means unchanged. Only calls that the facts plan have `plan`. */
interface CallChange {
  readonly id: CallId;
  plan: ToolCall | null;
  status: ToolCallStatus;
  result: string | null;
  attempt: number | null;
  started: boolean;
  finished: boolean;
}

export function callChanges(facts: readonly { readonly fact: NewFact }[]): CallChange[] {
  const changes: CallChange[] = [];
  for (const { fact } of facts) applyFact(changes, fact);
  return changes;
}

function applyFact(changes: CallChange[], fact: NewFact): void {
  if (fact.type === 'tool.planned') {
    const { tool_call: plan } = fact.data;
    const call = change(changes, plan.id, plan.status);
    call.plan = plan;
    call.attempt = plan.attempt;
  } else if (fact.type === 'tool.started') {
    const call = change(changes, fact.data.tool_call_id, 'dispatched');
    call.attempt = fact.data.attempt;
    call.started = true;
  } else if (fact.type === 'tool.completed' || fact.type === 'tool.failed') {
    const call = change(changes, fact.data.tool_call_id, fact.type === 'tool.completed' ? 'completed' : 'failed');
    call.result = JSON.stringify(fact.data.result);
    call.finished = true;
  } else if (fact.type === 'tool.unknown') {
    const call = change(changes, fact.data.tool_call_id, 'unknown');
    call.finished ||= fact.data.message_id !== undefined;
  } else if (fact.type === 'tool.resolved' && fact.data.outcome === 'retry') {
    change(changes, fact.data.tool_call_id, 'planned');
  }
}

/** A linear search, because a batch has few calls. */
function change(changes: CallChange[], id: CallId, status: ToolCallStatus): CallChange {
  const known = changes.find((call) => call.id === id);
  if (known) {
    known.status = status;
    return known;
  }
  const call = { id, plan: null, status, result: null, attempt: null, started: false, finished: false };
  changes.push(call);
  return call;
}
