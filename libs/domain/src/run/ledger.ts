import {
  type ApprovalOutcome,
  type AwaitedApproval,
  type CallId,
  type CallInput,
  type Elicitation,
  type InputAnswer,
  type McpTask,
  type PlaceInProgram,
  type NewFact,
  type RecordedFact,
  type RecordedResult,
  type ToolCall,
  type ToolCallStatus,
  toFailedResult,
} from '@rondo/contract';

/** A call of the current iteration, according to the log. */
export interface LedgerEntry {
  readonly call: ToolCall;
  readonly status: ToolCallStatus;
  /** The store that it was sent into; see Tools.store. */
  readonly store: string | null;
  /** How often it was sent. */
  readonly attempts: number;
  /** The outcome is unknown and the model was not told: the call is sent again, or a person decides. */
  readonly isUndecided: boolean;
  /** Present once a person was asked to approve it. */
  readonly approval?: CallApproval;
  /** Present once its server has asked people for something. */
  readonly input?: RequestedInput;
  /** Present once its server has made a task of it: the next attempt asks for that task. */
  readonly task?: McpTask | undefined;
  /** Of a program: the attempt in which it asked for calls last. The next one is sent when they are answered. */
  readonly askedIn?: number;
  /** The result that a program is told, if it made the call. */
  readonly result?: RecordedResult;
}

/** What the server of a call has asked last, and what was answered. */
interface RequestedInput extends CallInput {
  readonly elicitations: readonly Elicitation[];
}

export interface CallApproval {
  readonly awaited: AwaitedApproval;
  readonly outcome?: ApprovalOutcome;
}

export type Ledger = ReadonlyMap<CallId, LedgerEntry>;

/** Calls without a result for the model, in order (I6). */
export const openCalls = ({ calls }: { readonly calls: Ledger }): LedgerEntry[] =>
  [...calls.values()].filter(
    ({ status, isUndecided }) => status === 'planned' || status === 'dispatched' || isUndecided,
  );

/** Only a person can resolve the call, or decide that it is sent again. */
export const awaitsPerson = ({ call, isUndecided }: LedgerEntry): boolean =>
  isUndecided && call.effect_class === 'unsafe';

/** Tells the model, or its program, that the call may or may not have taken effect (I5). */
export const unknownResult = (reason: string): RecordedResult =>
  toFailedResult(`${reason} It may have taken effect or not: check before you do it again.`);

/** What people have not answered of that; the call is not sent before. */
export const findUnanswered = ({ input }: Pick<LedgerEntry, 'input'>): readonly Elicitation[] =>
  input?.elicitations.filter(({ key }) => !(key in input.answers)) ?? [];

type Fact = NewFact | RecordedFact;
type ToolFact = Extract<Fact, { type: `tool.${string}` }>;

const isToolFact = (fact: Fact): fact is ToolFact => fact.type.startsWith('tool.');

type ApprovalFact = Extract<Fact, { type: `approval.${string}` }>;

const isApprovalFact = (fact: Fact): fact is ApprovalFact => fact.type.startsWith('approval.');

/** The calls after one more fact. */
export function callsAfter(calls: Ledger, fact: Fact): Ledger {
  if (isApprovalFact(fact)) return approvalsAfter(calls, fact);
  if (!isToolFact(fact)) return calls;
  if (fact.type === 'tool.planned') {
    const { tool_call: call } = fact.data;
    const newEntry: LedgerEntry = { call, status: 'planned', store: null, attempts: 0, isUndecided: false };
    return call.program ? withCallOfProgram(calls, newEntry, call.program) : new Map(calls).set(call.id, newEntry);
  }
  const entry = calls.get(fact.data.tool_call_id);
  return entry ? new Map(calls).set(entry.call.id, { ...entry, isUndecided: false, ...changeBy(entry, fact) }) : calls;
}

/** It stands before the program, which goes on when it is answered. */
const withCallOfProgram = (calls: Ledger, newEntry: LedgerEntry, { call_id: program }: PlaceInProgram): Ledger =>
  new Map(
    [...calls].flatMap(([id, entry]): [CallId, LedgerEntry][] =>
      id === program
        ? [
            [newEntry.call.id, newEntry],
            [id, { ...entry, status: 'planned', isUndecided: false, askedIn: entry.attempts }],
          ]
        : [[id, entry]],
    ),
  );

/** It is a program, and waits for calls of its own. */
export const awaitsCalls = (open: readonly LedgerEntry[], { call: { id } }: LedgerEntry): boolean =>
  open.some(({ call: { program } }) => program?.call_id === id);

/** How often the call was sent for what it does next. */
export const attemptsSince = ({ attempts, askedIn = 0 }: Pick<LedgerEntry, 'attempts' | 'askedIn'>): number =>
  attempts - askedIn;

function approvalsAfter(calls: Ledger, fact: ApprovalFact): Ledger {
  const entry = calls.get(fact.data.tool_call_id);
  return entry ? new Map(calls).set(entry.call.id, { ...entry, ...approvalChange(entry, fact) }) : calls;
}

function approvalChange({ call, approval }: LedgerEntry, fact: ApprovalFact): Partial<LedgerEntry> {
  if (fact.type === 'approval.requested') return { approval: { awaited: fact.data } };
  const { outcome, arguments: edited, effect_class = call.effect_class } = fact.data;
  return {
    ...(approval && { approval: { ...approval, outcome } }),
    ...(edited && { call: { ...call, arguments: edited, effect_class } }),
  };
}

function changeBy(entry: LedgerEntry, fact: Exclude<ToolFact, { type: 'tool.planned' }>): Partial<LedgerEntry> {
  const { isUndecided } = entry;
  switch (fact.type) {
    case 'tool.started':
      return { status: 'dispatched', store: fact.data.store, attempts: fact.data.attempt };
    case 'tool.completed':
      return { status: 'completed', ...(entry.call.program && { result: fact.data.result }) };
    case 'tool.failed':
      return { status: 'failed', ...(entry.call.program && { result: fact.data.result }) };
    case 'tool.unknown':
      return {
        ...{ status: 'unknown', isUndecided: fact.data.message_id === undefined },
        ...(entry.call.program && { result: unknownResult(fact.data.reason) }),
      };
    case 'tool.resolved':
      return fact.data.outcome === 'retry' ? { status: 'planned', task: undefined } : { isUndecided };
    case 'tool.input_requested': {
      const { elicitations, state } = fact.data;
      return { input: { elicitations, answers: {}, ...(state !== undefined && { state }) } };
    }
    case 'tool.input_given':
      return inputAfter(entry, fact.data);
    case 'tool.task_created':
      return { status: 'planned', task: fact.data.task };
  }
}

/** The input of the call after an answer. With the last answer it is to be sent once more. */
function inputAfter(
  entry: LedgerEntry,
  { key, action, content }: InputAnswer & { readonly key: string },
): Partial<LedgerEntry> {
  if (!entry.input) return {};
  const answer: InputAnswer = { action, ...(content && { content }) };
  const input = { ...entry.input, answers: { ...entry.input.answers, [key]: answer } };
  return { input, ...(findUnanswered({ input }).length === 0 && { status: 'planned' }) };
}
