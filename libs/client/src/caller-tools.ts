import { RondoError, RunWaitingError } from './errors.ts';
import type {
  AgentResult,
  ApprovalRule,
  CallerCall,
  CallerResult,
  CallerTool,
  NewRun,
  Run,
  StreamEvent,
  ToolResults,
} from './generated/api.ts';
import * as routes from './generated/routes.ts';
import { type CreateOptions, type Options, type PatientOptions, Resource } from './resource.ts';
import type { StreamOptions } from './run-stream.ts';

/** Calls of tools that callers run, one by one. `runs.run` does all of this by itself. */
export class ToolCalls extends Resource {
  /** Those that wait for a result, of one run or of all runs of the account; the oldest first. */
  readonly list = this.pages(routes.listCallerCalls);
  /** Gives the result of a call. The same result again changes nothing. */
  readonly answer = this.send(routes.answerToolCall);

  /** Gives the results of several calls of a run at once: all are taken, or none. */
  answerAll(runId: string, results: ToolResults['results'], options: Options = {}) {
    return this.send(routes.answerToolCalls)(runId, { results }, options);
  }
}

/** What a handler knows of its call, beside the arguments. */
export interface HandledCall {
  readonly call: CallerCall;
  /** Aborted when the run is not followed any more. */
  readonly signal: AbortSignal;
}

/**
 * A tool that this program runs. The model reads `description` and `parameters`, a JSON Schema; it may write arguments that
 * the schema does not allow. What the handler returns is the output: text as it is, anything else as JSON. What it throws is
 * why the call failed, and the model is told its message.
 */
export interface HandledTool extends Partial<Omit<CallerTool, 'name'>> {
  /** What the model reads of it. Absent: the agent of the run has the definition, and only the handler is here. */
  readonly description?: string;
  readonly handler: (given: Record<string, unknown>, about: HandledCall) => unknown;
  /** Which calls a person must approve before the handler gets them. */
  readonly require_approval?: ApprovalRule;
}

export type HandledTools = Readonly<Record<string, HandledTool>>;

type ToolOptions = Exclude<NonNullable<NewRun['tools']>, readonly unknown[]>;

/** A run whose `tools` may have handlers, beside options of other tools. */
export interface HandledRun extends Omit<NewRun, 'tools' | 'caller_tools'> {
  readonly tools?: Readonly<Record<string, HandledTool | ToolOptions[string]>>;
}

export interface ServeOptions extends Options, Pick<StreamOptions, 'onCut'> {
  /** Called with each event of the run. */
  readonly onEvent?: (event: StreamEvent) => void;
  /** Called when the run waits for a person, and awaited. Without it, such a run is not followed any further. */
  readonly onWaiting?: (run: Run) => unknown;
}

export type RunOptions = CreateOptions & ServeOptions;

/** What running the tools of a run needs of the runs. */
interface FollowedRuns {
  create(run: NewRun, options: CreateOptions): Promise<Run>;
  get(id: string, options: Options): Promise<Run>;
  stream(id: string, options: StreamOptions): AsyncIterable<StreamEvent>;
  result(id: string, options: Options): Promise<AgentResult>;
}

type Resources = { readonly runs: FollowedRuns; readonly toolCalls: ToolCalls };

/** Starts a run, runs its tools here, and resolves to its result. Rejects as `runs.result` does. */
export async function runWithTools(
  { runs, toolCalls }: Resources,
  request: HandledRun,
  options: RunOptions = {},
): Promise<AgentResult> {
  const run = await runs.create(toNewRun(request), options);
  await serveTools({ runs, toolCalls }, { id: run.id, tools: Object.fromEntries(listHandled(request)) }, options);
  return runs.result(run.id, { ...options, ...patiently });
}

/** The request that starts such a run: the gateway gets the definitions of the tools, and the handlers stay here. */
export function toNewRun({ tools, ...request }: HandledRun): NewRun {
  if (tools === undefined) return request;
  const options = Object.entries(tools)
    .map(([name, tool]) => [name, isHandled(tool) ? toOptions(tool) : tool] as const)
    .filter(([, tool]) => tool !== undefined);
  const definitions = listHandled({ tools }).flatMap(([name, tool]) => toDefinition(name, tool));
  return {
    ...request,
    ...(options.length > 0 && { tools: Object.fromEntries(options) as ToolOptions }),
    ...(definitions.length > 0 && { caller_tools: definitions }),
  };
}

const listHandled = ({ tools = {} }: Pick<HandledRun, 'tools'>): (readonly [string, HandledTool])[] =>
  Object.entries(tools).flatMap(([name, tool]) => (isHandled(tool) ? [[name, tool] as const] : []));

const isHandled = (tool: HandledTool | ToolOptions[string]): tool is HandledTool =>
  typeof tool === 'object' && 'handler' in tool;

const toOptions = ({ require_approval: rule }: HandledTool): ToolOptions[string] | undefined =>
  rule === undefined ? undefined : { require_approval: rule };

const toDefinition = (
  name: string,
  { handler: _handler, require_approval: _rule, description, ...definition }: HandledTool,
): CallerTool[] => (description === undefined ? [] : [{ name, description, ...definition }]);

/** However long the gateway is away. */
const patiently: PatientOptions = { retries: Infinity };

interface ServedRun {
  readonly id: string;
  readonly tools: HandledTools;
}

/**
 * Follows a run to its end and answers the calls of these tools, also those that wait already. A connection that is cut is
 * made again. Each call is handled once here; where another program answers it too, the first result counts.
 */
export async function serveTools(
  { runs, toolCalls }: Resources,
  { id, tools }: ServedRun,
  { signal, onCut, onEvent, onWaiting }: ServeOptions = {},
): Promise<void> {
  const left = new AbortController();
  const leave = () => left.abort(signal?.reason);
  signal?.addEventListener('abort', leave, { once: true });
  const begun = new Set<string>();
  const fail = (error: unknown) => left.abort(error);
  const patient = { signal: left.signal, ...patiently };
  try {
    signal?.throwIfAborted();
    for await (const event of runs.stream(id, { signal: left.signal, ...(onCut && { onCut }) })) {
      onEvent?.(event);
      if (event.type !== 'run.waiting' || event.data.reason === 'child_runs') continue;
      if (event.data.reason !== 'caller_tools') await askPerson(runs, { id, seq: event.seq, patient }, onWaiting);
      else
        for await (const call of toolCalls.list({ run_id: id }, patient)) {
          const tool = tools[call.name];
          const key = `${call.id} ${call.attempt}`;
          if (!tool || begun.has(key)) continue;
          begun.add(key);
          answerWith(toolCalls, tool, { call, signal: left.signal }).catch(fail);
        }
    }
  } finally {
    signal?.removeEventListener('abort', leave);
    left.abort(new Error('the run is not followed any more'));
  }
}

/** A wait that is read again later may be over. */
async function askPerson(
  runs: FollowedRuns,
  { id, seq, patient }: { readonly id: string; readonly seq: number; readonly patient: Options },
  onWaiting: ServeOptions['onWaiting'],
): Promise<void> {
  const run = await runs.get(id, patient);
  if (run.last_seq > seq) return;
  if (!onWaiting) throw new RunWaitingError(run, run.waiting?.question);
  await onWaiting(run);
}

/** Why a result is not needed any more: another program gave one, the time is over, or the run was ended. */
const notNeeded: readonly string[] = ['tool_call_answered', 'tool_call_over'];

/** Sends the result until it arrives. */
async function answerWith(toolCalls: ToolCalls, tool: HandledTool, about: HandledCall): Promise<void> {
  const { call, signal } = about;
  try {
    await toolCalls.answer(call.id, await resultBy(tool, about), { signal, ...patiently });
  } catch (error) {
    if (!(error instanceof RondoError && notNeeded.includes(error.code))) throw error;
  }
}

async function resultBy({ handler }: HandledTool, about: HandledCall): Promise<CallerResult> {
  try {
    const output = await handler(about.call.arguments, about);
    return { output: typeof output === 'string' ? output : toJson(output) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { error: message === '' ? 'The tool failed.' : message };
  }
}

/** Nothing of a value that JSON cannot express, such as `undefined`. */
function toJson(value: unknown): string {
  const json = JSON.stringify(value) as string | undefined; // its type does not say so
  return json ?? '';
}
