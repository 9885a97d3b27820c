import {
  type CallId,
  type Elicitation,
  type InputAnswer,
  type NewFact,
  type RecordedFact,
  type RequiredInput,
  type RunSettings,
  type ToolCall,
  connectKey,
  connectName,
  connectWords,
} from '@rondo/contract';
import type { LoopContext } from '../loop-context';
import { callsAfter, findUnanswered, openCalls } from '../run/ledger';
import type { AnswerContext } from './answer-call';

/** How long a server's question waits where nothing else is said; servers keep what they need for it for some time only. */
const usualLifetimeS = 86_400;

/** The call is open: nothing happened that counts, and its server asks people first. */
export function inputRequested({ state, run, ports }: LoopContext, call: ToolCall, required: RequiredInput): NewFact {
  const { id: tool_call_id, name } = call;
  const times = toRequestTimes(ports.clock.now(), run.settings);
  const elicitations = required.asked.map((elicitation) => ({ ...elicitation, tool_call_id, name, ...times }));
  const { state: serverState } = required;
  const data = { tool_call_id, name, elicitations, ...(serverState !== undefined && { state: serverState }) };
  return { type: 'tool.input_requested', iteration: state.iteration, data };
}

function toRequestTimes(requested_at: string, { approvals }: Pick<RunSettings, 'approvals'>) {
  const lifetimeMs = (approvals?.expires_s ?? usualLifetimeS) * 1_000;
  return { requested_at, expires_at: new Date(Date.parse(requested_at) + lifetimeMs).toISOString() };
}

/** A server that a person has to connect before the run can know its tools. The id is of no call: the answer comes under it. */
export interface UnconnectedServer {
  readonly id: CallId;
  readonly server: string;
  readonly page: string;
}

/** The run cannot start before people have connected these servers, or said that it goes on without them. */
export class ConnectionsAwaited extends Error {
  override readonly name = 'ConnectionsAwaited';

  constructor(readonly servers: readonly UnconnectedServer[]) {
    super(`${servers.map(({ server }) => server).join(', ')} have to be connected`);
  }
}

/** Parks a run that has not started. */
export const waitForConnections = (
  servers: readonly UnconnectedServer[],
  { now, settings }: { readonly now: string; readonly settings: Pick<RunSettings, 'approvals'> },
): NewFact =>
  waitForInput(
    0,
    servers.map(({ id, server, page }) => ({
      ...{
        tool_call_id: id,
        name: connectName,
        key: connectKey,
        server,
        mode: 'url',
        message: connectWords,
        url: page,
      },
      ...toRequestTimes(now, settings),
    })),
  );

/** What was answered last about the connection of each server before the run started, by the server's name. */
export function readConnectAnswers(log: readonly RecordedFact[]): ReadonlyMap<string, InputAnswer['action']> {
  const servers = new Map<string, string>();
  const answers = new Map<string, InputAnswer['action']>();
  for (const fact of log) {
    if (fact.type === 'run.waiting')
      for (const elicitation of fact.data.elicitations ?? []) servers.set(elicitation.tool_call_id, elicitation.server);
    if (fact.type !== 'tool.input_given' || fact.data.key !== connectKey) continue;
    const server = servers.get(fact.data.tool_call_id);
    if (server !== undefined) answers.set(server, fact.data.action);
  }
  return answers;
}

/** Parks the run until people have answered all of it. */
export function waitForInput(iteration: number, elicitations: readonly Elicitation[]): NewFact {
  const [first] = elicitations;
  const question = {
    text: first ? `The MCP server "${first.server}" asks: ${first.message}` : '',
    attachments: [],
    tool_call_id: first?.tool_call_id ?? '',
  };
  return {
    type: 'run.waiting',
    iteration,
    data: { reason: 'elicitation', question, elicitations: [...elicitations] },
  };
}

/** An answer to a question of a server. `answeredBy`: the id of an API key; null where the time for it was over. */
export interface InputRuling extends Pick<Elicitation, 'tool_call_id' | 'key'> {
  readonly answer: InputAnswer;
  readonly answeredBy: string | null;
}

/**
 * The facts of an answer: the answer itself, and then that the run waits for the others, or goes on. `waiting`: what the run waits
 * for now. Undefined if nothing of the kind is asked.
 */
export function giveInput(
  answering: AnswerContext,
  ruling: InputRuling,
  waiting: readonly Elicitation[],
): NewFact[] | undefined {
  const { tool_call_id, key, answer, answeredBy: answered_by } = ruling;
  const { iteration, calls } = answering.state;
  const isAsked = (elicitation: Elicitation) => elicitation.tool_call_id === tool_call_id && elicitation.key === key;
  const entry = calls.get(tool_call_id);
  const question = (entry ? findUnanswered(entry) : waiting).find(isAsked);
  if (!question) return undefined;

  const name = entry?.call.name ?? question.name;
  const data = { tool_call_id, name, key, ...answer, answered_by };
  const fact: NewFact = { type: 'tool.input_given', iteration, data };
  const others = entry
    ? openCalls({ calls: callsAfter(calls, fact) }).flatMap(findUnanswered)
    : waiting.filter((one) => !isAsked(one));
  const next: NewFact =
    others.length > 0
      ? waitForInput(iteration, others)
      : { type: 'run.resumed', iteration, data: { reason: 'elicitation_answered' } };
  return [fact, next];
}

/** Why the content is not what the form asks for: the field, and what is wrong. Undefined where it is. */
export function findFormProblem(
  fields: NonNullable<Elicitation['fields']>,
  content: NonNullable<InputAnswer['content']>,
): { readonly field: string; readonly message: string } | undefined {
  for (const name of Object.keys(content))
    if (!Object.hasOwn(fields, name)) return { field: name, message: 'is not asked for' };
  for (const [name, field] of Object.entries(fields)) {
    const value = Object.hasOwn(content, name) ? content[name] : undefined;
    const message = value === undefined ? (field.required ? 'is needed' : undefined) : findValueProblem(field, value);
    if (message !== undefined) return { field: name, message };
  }
  return undefined;
}

type Field = NonNullable<Elicitation['fields']>[string];
type Value = NonNullable<InputAnswer['content']>[string];

function findValueProblem(field: Field, value: Value): string | undefined {
  switch (field.type) {
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'must be true or false';
    case 'number':
    case 'integer':
      return findNumberProblem(field, value);
    case 'string':
      return typeof value === 'string' ? findTextProblem(field, value) : 'must be a text';
    case 'array':
      return findListProblem(field, value);
  }
}

function findNumberProblem({ type, minimum, maximum }: Field, value: Value): string | undefined {
  if (typeof value !== 'number') return 'must be a number';
  if (type === 'integer' && !Number.isInteger(value)) return 'must be a whole number';
  if (minimum !== undefined && value < minimum) return `must be at least ${minimum}`;
  return maximum !== undefined && value > maximum ? `must be at most ${maximum}` : undefined;
}

const formats: Record<NonNullable<Field['format']>, { readonly pattern: RegExp; readonly what: string }> = {
  email: { pattern: /^[^@\s]+@[^@\s]+$/, what: 'an e-mail address' },
  uri: { pattern: /^[a-z][a-z0-9+.-]*:\S+$/i, what: 'an address with a scheme' },
  date: { pattern: /^\d{4}-\d\d-\d\d$/, what: 'a date such as 2026-07-28' },
  'date-time': {
    pattern: /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/,
    what: 'a time such as 2026-07-28T12:00:00Z',
  },
};

function findTextProblem(field: Field, value: string): string | undefined {
  const { options, format, min_length: least, max_length: most } = field;
  if (options && !options.some((option) => option.value === value)) return 'must be one of the options';
  if (least !== undefined && value.length < least) return `must have at least ${least} characters`;
  if (most !== undefined && value.length > most) return `must have at most ${most} characters`;
  return format && !formats[format].pattern.test(value) ? `must be ${formats[format].what}` : undefined;
}

function findListProblem({ options, min_items: least, max_items: most }: Field, value: Value): string | undefined {
  if (!Array.isArray(value)) return 'must be a list';
  if (options && value.some((item) => !options.some((option) => option.value === item)))
    return 'must have only options';
  if (least !== undefined && value.length < least) return `must have at least ${least} items`;
  return most !== undefined && value.length > most ? `must have at most ${most} items` : undefined;
}
