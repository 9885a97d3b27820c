import type { Message, Run, ToolCall, Usage } from '@rondo/contract';

/** The outcome of a run in one object, whatever its profile. */
export interface AgentResult {
  readonly success: boolean;
  readonly result: {
    readonly response: string;
    readonly reasoning: string;
    readonly tools_executed: readonly ExecutedTool[];
    readonly agent: string | null;
    readonly model: string;
    readonly token_usage: Usage;
    readonly timestamp: string;
  };
  readonly error: string | null;
  readonly metrics: { readonly duration_ms: number; readonly iterations: number; readonly tool_calls: number };
}

interface ExecutedTool {
  readonly name: string;
  readonly success: boolean;
  readonly result: string;
  readonly error: string | null;
  /** The output is too long for this result; the list of tool calls has it. */
  readonly omitted?: true | undefined;
  readonly metrics: { readonly duration_ms: number | null };
}

type Called = ToolCall & { readonly omitted?: boolean };

/** The result of a run that ended, from its messages and calls, both in order. */
export function toAgentResult(run: Run, messages: readonly Message[], calls: readonly Called[]): AgentResult {
  const said = messages.filter(({ type }) => type === 'assistant');
  const end = run.finished_at ?? run.created_at;
  const error = findError(run) ?? (usesJsonDecisions(run) ? findFault(run, said, calls) : null);
  return {
    success: run.status === 'completed' && error === null,
    result: {
      response:
        completionText(said, calls) ??
        cutOff(run) ??
        (usesJsonDecisions(run) ? decisionText(said, calls) : finalText(run, said, calls)),
      reasoning: findLast(said, 'reasoning'),
      tools_executed: calls.filter(wasExecuted).map(toExecutedTool),
      agent: run.settings.agent.name ?? null,
      model: run.model,
      token_usage: run.usage,
      timestamp: end,
    },
    error,
    metrics: {
      duration_ms: millisecondsBetween(findStart(run) ?? end, end),
      iterations: run.iteration,
      tool_calls: calls.length,
    },
  };
}

/** A fork has the start of its origin, and took no time before it was made. */
const findStart = ({ started_at, created_at, forked_from }: Run): string | null =>
  forked_from && started_at && started_at < created_at ? created_at : started_at;

/** The argument of `complete` says more than the text before it. A run that goes on after it has its last words later. */
function completionText(said: readonly Message[], calls: readonly ToolCall[]): string | undefined {
  const complete = calls.findLast(({ name, status }) => name === 'complete' && status === 'completed');
  if (!complete || findLast(saidAfter(complete.iteration, said), 'text') !== '') return undefined;
  const words = [complete.arguments['text'], complete.arguments['answer']];
  return words.find((text): text is string => typeof text === 'string' && text !== '');
}

const saidAfter = (iteration: number, said: readonly Message[]): readonly Message[] =>
  said.filter((message) => (message.iteration ?? 0) > iteration);

/** In the JSON dialect each reply is a decision: a tool, or no tool and an answer. */
const usesJsonDecisions = ({ settings }: Run): boolean => settings.processor.dialect === 'json';

const executed: readonly ToolCall['status'][] = ['completed', 'failed', 'unknown'];
/** A call that was refused or exceeded the limit of its turn was never sent. */
const wasExecuted = ({ status, attempt }: ToolCall): boolean => attempt > 0 && executed.includes(status);

/**
 * Null where its calls succeeded; or it had tools, used none, and said so itself. A reply has a decision where the run was
 * offered any tool: of its settings, of an MCP server that was there, or of its caller.
 */
function findFault({ settings }: Run, said: readonly Message[], calls: readonly ToolCall[]): string | null {
  const used = calls.filter(wasExecuted);
  const failed = (used.length > 0 ? used : calls).findLast(({ status }) => status !== 'completed');
  if (used.length > 0) return failed ? describeFault(failed) : null;
  const { decision } = said.at(-1)?.metadata ?? { decision: namesTools(settings) ? 'malformed' : 'none' };
  if (decision === undefined || decision === 'none') return null;
  return failed ? describeFault(failed) : 'The model neither named a tool nor answered, in the form that it was told.';
}

const describeFault = (call: ToolCall): string =>
  `The tool ${call.name} failed: ${toExecutedTool(call).error ?? 'it does not say why.'}`;

const namesTools = ({ tools, mcp_servers, caller_tools }: Run['settings']): boolean =>
  [tools, mcp_servers, caller_tools].some((named) => (named?.length ?? 0) > 0);

/** Text before the last tool call is no answer, but what a run told its user with a call is. */
function finalText({ status }: Run, said: readonly Message[], calls: readonly ToolCall[]): string {
  const isSilent = said.at(-1)?.content.every((block) => block.type === 'reasoning' || isBlank(block)) ?? false;
  if (status === 'completed' && isSilent) return 'Completed the task.';
  const told = calls.findLast(({ name, status: ended }) => name === 'message_user' && ended === 'completed');
  const words = told?.arguments['text'];
  if (!told || typeof words !== 'string') return findLast(said, 'text');
  return findLast(saidAfter(told.iteration, said), 'text') || words;
}

/** Models sometimes end with a line break, which is stored. */
const isBlank = (block: Message['content'][number]): boolean => block.type === 'text' && block.text.trim() === '';

/** The text after the last tool call, else the results of the tools. */
function decisionText(said: readonly Message[], calls: readonly ToolCall[]): string {
  const used = calls.filter(wasExecuted);
  const last = used.at(-1);
  const words = findLast(last ? saidAfter(last.iteration, said) : said, 'text');
  return words || used.map(outcomeLine).join('\n');
}

function outcomeLine(call: ToolCall): string {
  const { name, success, result, error } = toExecutedTool(call);
  return `Tool ${name} executed. Success: ${success}. Result: ${result || (error ?? '')}`;
}

function findLast(messages: readonly Message[], type: 'text' | 'reasoning'): string {
  const texts = messages.map(({ content }) =>
    content.flatMap((block) => (block.type === type && !isBlank(block) ? [block.text] : [])),
  );
  return texts.findLast((blocks) => blocks.length > 0)?.join('\n\n') ?? '';
}

const toExecutedTool = ({ name, status, result, started_at, finished_at, omitted }: Called): ExecutedTool => ({
  name,
  success: status === 'completed',
  result: result?.output ?? '',
  error: result?.error ?? (status === 'unknown' ? 'The outcome is unknown.' : null),
  ...(omitted && { omitted }),
  metrics: { duration_ms: started_at && finished_at ? millisecondsBetween(started_at, finished_at) : null },
});

const findError = (run: Run): string | null =>
  run.error?.message ?? (run.status === 'stopped' ? 'The run was stopped.' : (cutOff(run) ?? cutReply(run) ?? null));

/** Its text stands as far as it came: half an answer is no success, but it is what the model wrote. */
const cutReply = ({ finish_reason }: Run): string | undefined =>
  finish_reason === 'length' ? 'The last reply was cut off at the limit of its length.' : undefined;

/** Says why a run was cut off that reached a limit or repeated itself. Undefined for every other run. */
function cutOff({ finish_reason, settings: { limits } }: Run): string | undefined {
  if (finish_reason === 'max_iterations') return `The run did not complete within ${limits.max_iterations} iterations.`;
  if (finish_reason === 'loop_detected') return 'The run went in circles and did not complete.';
  return finish_reason === 'budget_exceeded'
    ? 'The run did not complete within what it or its account may spend.'
    : undefined;
}

const millisecondsBetween = (from: string, to: string): number => Math.max(0, Date.parse(to) - Date.parse(from));
