import {
  type AnsweredResult,
  type CallId,
  type PlanProgress,
  type ProgramRequest,
  type RecordedFact,
  type RequiredInput,
  type ToolCall,
  textLimits,
} from '@rondo/contract';
import type { SentCall, ToolAnswer, Tools } from '@rondo/domain';

/** How far a replay has come in the recorded log. */
export class RecordedPlace {
  /** The index of the fact that comes next. */
  at = 0;

  constructor(readonly facts: readonly RecordedFact[]) {}

  get next(): RecordedFact | undefined {
    return this.facts[this.at];
  }

  get last(): RecordedFact | undefined {
    return this.facts[this.at - 1];
  }

  /** The time that it was. */
  now(): string {
    return (this.next ?? this.last)?.at ?? new Date(0).toISOString();
  }
}

type Asking = Extract<RecordedFact, { type: 'tool.input_requested' }>;
type Planning = Extract<RecordedFact, { type: 'tool.planned' }>;
type Answer =
  | Asking
  | Planning
  | Extract<RecordedFact, { type: 'tool.task_created' | 'tool.completed' | 'tool.failed' | 'tool.unknown' }>;

const isAnswer = (fact: RecordedFact): fact is Answer =>
  (fact.type === 'tool.planned' && fact.data.tool_call.program !== undefined) ||
  fact.type === 'tool.completed' ||
  fact.type === 'tool.failed' ||
  fact.type === 'tool.unknown' ||
  fact.type === 'tool.input_requested' ||
  fact.type === 'tool.task_created';

/** Answers calls with what the log has, in the order in which it has them. Nothing is executed. */
export class RecordedTools implements Tools {
  readonly store = null;
  private readonly waiting = new Map<CallId, (answer: ToolAnswer) => void>();

  constructor(private readonly place: RecordedPlace) {}

  execute({ id }: ToolCall): Promise<ToolAnswer> {
    return new Promise((resolve) => {
      this.waiting.set(id, resolve);
      this.answerNext();
    });
  }

  reattach({ call }: SentCall): Promise<ToolAnswer> {
    return this.execute(call);
  }

  endRun(): Promise<readonly []> {
    return Promise.resolve([]);
  }

  /** Call it when the log has gone on. Only one answer is given at a time, so that the loop takes them in order. */
  answerNext(): void {
    const { facts, at } = this.place;
    const index = facts.findIndex((fact, position) => position >= at && isAnswer(fact));
    const fact = facts[index];
    if (!fact || !isAnswer(fact)) return;
    const id = findAnswered(fact);
    this.waiting.get(id)?.(answerIn(facts, index, fact));
    this.waiting.delete(id);
  }
}

/** A program that asks for calls. */
const findAnswered = ({ data }: Answer): CallId =>
  'tool_call' in data ? (data.tool_call.program?.call_id ?? data.tool_call.id) : data.tool_call_id;

function answerIn(facts: readonly RecordedFact[], index: number, fact: Answer): ToolAnswer {
  if (fact.type === 'tool.planned') return { how: 'calls', requests: listRequests(facts, index, findAnswered(fact)) };
  if (fact.type === 'tool.unknown') return { how: 'unknown', reason: fact.data.reason };
  if (fact.type === 'tool.task_created') return toTaskAnswer(fact.data);
  if (fact.type === 'tool.input_requested') return { how: 'input_required', required: toRequired(fact.data) };
  const { result, duration_ms: durationMs, tool_call_id: id } = fact.data;
  const { output, error } = result;
  const shown = stateMessagesAfter(facts, index, id);
  const browser = shown.map(({ browser: view }) => view as AnsweredResult['browser']).find(Boolean); // the engine's own message
  const plan = shown.find(({ kind }) => kind === 'plan_updated');
  return {
    how: 'answered',
    result: {
      ...result,
      output: beforeBound(output, textLimits.toolOutput),
      ...(error !== undefined && { error: beforeBound(error, textLimits.toolError) }),
      ...(browser && { browser }),
    },
    durationMs,
    ...(plan && { plan: toPlan(plan) }),
  };
}

/** Those that the program asked for at once follow each other; a person may have changed the arguments of one only later. */
function listRequests(facts: readonly RecordedFact[], index: number, program: CallId): ProgramRequest[] {
  const rest = facts.slice(index);
  const isWithin = (fact: RecordedFact) =>
    fact.type === 'tool.planned' ? fact.data.tool_call.program?.call_id === program : isRefusal(fact);
  const end = rest.findIndex((fact) => !isWithin(fact));
  return rest.slice(0, end < 0 ? rest.length : end).flatMap((fact): ProgramRequest[] => {
    if (fact.type !== 'tool.planned' || !fact.data.tool_call.program) return [];
    const { name, arguments: given, program: place } = fact.data.tool_call;
    return [{ name, arguments: given, position: place.position, digest: place.digest }];
  });
}

/** What the loop itself has answered such a call with, because a program cannot make it. */
const isRefusal = (fact: RecordedFact): boolean => fact.type === 'tool.failed' || fact.type === 'message.created';

const toTaskAnswer = ({ task, reason }: Extract<Answer, { type: 'tool.task_created' }>['data']): ToolAnswer =>
  reason === undefined ? { how: 'task', task } : { how: 'unknown', reason };

/** What the server sent: the loop itself adds of which call it is, and until when it waits. */
const toRequired = ({ elicitations, state }: Asking['data']): RequiredInput => ({
  asked: elicitations.map(({ tool_call_id: _id, name: _name, requested_at: _at, expires_at: _end, ...asked }) => asked),
  ...(state !== undefined && { state }),
});

type Metadata = Readonly<Record<string, unknown>>;

/** What the call has shown beside its result: the metadata of the state messages that follow it. */
function stateMessagesAfter(facts: readonly RecordedFact[], index: number, id: CallId): Metadata[] {
  const rest = facts.slice(index + 1);
  const end = rest.findIndex(({ type }) => type !== 'message.created' && type !== 'browser.state');
  return rest
    .slice(0, end < 0 ? rest.length : end)
    .flatMap((fact) => (fact.type === 'message.created' ? [fact.data.message.metadata] : []))
    .filter(({ tool_call_id: callId }) => callId === id);
}

const toPlan = ({ kind: _kind, tool_call_id: _id, ...plan }: Metadata) => plan as unknown as PlanProgress; // the engine's own message

const mark = /\n\n\[… (\d+) characters left out …\]$/;

/** A text that the loop shortens to this one: it shortens every result, and this one is longer than its limit by the note. */
function beforeBound(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const left = Number(mark.exec(text)?.[1] ?? 0);
  return text.replace(mark, '.'.repeat(left));
}
