import type { Message, Run, ToolCall, Usage } from '@rondo/domain';

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

export interface ExecutedTool {
  readonly name: string;
  readonly success: boolean;
  readonly result: string;
  readonly error: string | null;
  readonly metrics: { readonly duration_ms: number | null };
}

/** The result of a run that is over, from its own messages and calls, both in order. */
export function agentResultOf(run: Run, messages: readonly Message[], calls: readonly ToolCall[]): AgentResult {
  const said = messages.filter(({ type }) => type === 'assistant');
  const end = run.finished_at ?? run.created_at;
  return {
    success: run.status === 'completed' && (!decides(run) || didAsDecided(run, said, calls)),
    result: {
      response: closingWords(calls) ?? (decides(run) ? decisionWords(said, calls) : lastOf(said, 'text')),
      reasoning: lastOf(said, 'reasoning'),
      tools_executed: calls.map(executedTool),
      agent: run.settings.agent.name ?? null,
      model: run.model,
      token_usage: run.usage,
      timestamp: end,
    },
    error: errorOf(run),
    metrics: {
      duration_ms: millisecondsBetween(run.started_at ?? end, end),
      iterations: run.iteration,
      tool_calls: calls.length,
    },
  };
}

/** What `complete` was called with says more than the text before it. */
function closingWords(calls: readonly ToolCall[]): string | undefined {
  const complete = calls.findLast(({ name, status }) => name === 'complete' && status === 'completed');
  const words = [complete?.arguments['text'], complete?.arguments['answer']];
  return words.find((text): text is string => typeof text === 'string' && text !== '');
}

/** In JSON the model decides each time: a tool, or none and an answer. */
const decides = ({ settings }: Run): boolean => settings.processor.dialect === 'json';

const executed: readonly ToolCall['status'][] = ['completed', 'failed', 'unknown'];
const wasExecuted = ({ status }: ToolCall): boolean => executed.includes(status);

/** Its calls worked; and where it had tools but used none, it said so itself. */
function didAsDecided({ settings }: Run, said: readonly Message[], calls: readonly ToolCall[]): boolean {
  const used = calls.filter(wasExecuted);
  if (used.some(({ status }) => status !== 'completed')) return false;
  return settings.tools.length === 0 || used.length > 0 || said.at(-1)?.metadata['decision'] === 'none';
}

/** What was said after the last tool, or else what the tools did. */
function decisionWords(said: readonly Message[], calls: readonly ToolCall[]): string {
  const used = calls.filter(wasExecuted);
  const last = used.at(-1)?.iteration ?? 0;
  const words = lastOf(
    said.filter(({ iteration }) => used.length === 0 || (iteration ?? 0) > last),
    'text',
  );
  return words || used.map(outcomeLine).join('\n');
}

function outcomeLine(call: ToolCall): string {
  const { name, success, result, error } = executedTool(call);
  return `Tool ${name} executed. Success: ${success}. Result: ${result || (error ?? '')}`;
}

function lastOf(messages: readonly Message[], type: 'text' | 'reasoning'): string {
  const texts = messages.map(({ content }) => content.flatMap((block) => (block.type === type ? [block.text] : [])));
  return texts.findLast((blocks) => blocks.length > 0)?.join('\n\n') ?? '';
}

const executedTool = ({ name, status, result, started_at, finished_at }: ToolCall): ExecutedTool => ({
  name,
  success: status === 'completed',
  result: result?.output ?? '',
  error: result?.error ?? (status === 'unknown' ? 'The outcome is unknown.' : null),
  metrics: { duration_ms: started_at && finished_at ? millisecondsBetween(started_at, finished_at) : null },
});

const errorOf = ({ status, error }: Run): string | null =>
  error?.message ?? (status === 'stopped' ? 'The run was stopped.' : null);

const millisecondsBetween = (from: string, to: string): number => Math.max(0, Date.parse(to) - Date.parse(from));
