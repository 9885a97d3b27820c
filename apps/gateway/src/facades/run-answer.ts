import type { FactWithType, Run, ToolCall, ToolResult, Waiting } from '@rondo/contract';

/** Tools whose calls ask the user, and end the turn. */
const asking: ReadonlySet<string> = new Set(['ask', 'web_browser_takeover']);

/** Whether the call is a question to the user. */
export const isQuestion = (name: string): boolean => asking.has(name);

/** What a run says last with its call of `complete`. Undefined for another call, and for one without words. */
export function readClosingWords({ name, arguments: given }: Pick<ToolCall, 'name' | 'arguments'>): string | undefined {
  if (name !== 'complete') return undefined;
  const words = [given['text'], given['answer']].filter((text) => typeof text === 'string' && text !== '');
  return words.length === 0 ? undefined : words.join('\n\n');
}

const elsewhere: Partial<Record<Waiting['reason'], string>> = {
  budget: 'The run waits for a higher budget: raise it with POST /v1/runs/{id}/budget.',
  elicitation: 'Answer it in the console, or with POST /v1/tool-calls/{id}/input.',
  tool_unknown: 'Say it in the console, or with POST /v1/tool-calls/{id}/resolve.',
};

/** What a run waits for, where no answer in a conversation ends that. Undefined for what a client can be asked. */
export function describeOtherWait({ reason, question }: Pick<Waiting, 'reason' | 'question'>): string | undefined {
  const how = elsewhere[reason];
  return how === undefined ? undefined : [question?.text, how].filter(Boolean).join(' ');
}

const unasked: Partial<Record<Waiting['reason'], string>> = {
  approval: 'The run waits for an approval: decide it in the console.',
  caller_tools: 'The run waits for the result of a tool: POST /v1/tool-calls/{id}/result.',
};

/** The same where a client can be asked nothing but questions. */
export const describeWait = (waiting: Pick<Waiting, 'reason' | 'question'>): string =>
  describeOtherWait(waiting) ?? unasked[waiting.reason] ?? `The run waits: ${waiting.reason}.`;

export interface AnsweredCall {
  readonly tool_call_id: string;
  readonly name: string;
  readonly result: Pick<ToolResult, 'success' | 'output' | 'error'>;
}

/** What a call has answered. Undefined while its outcome is unknown and the model was not told so. */
export function readAnsweredCall(
  fact: FactWithType<'tool.completed' | 'tool.failed' | 'tool.unknown'>,
): AnsweredCall | undefined {
  if (fact.type !== 'tool.unknown') return fact.data;
  const { message_id: told, reason: error, ...call } = fact.data;
  return told === undefined ? undefined : { ...call, result: { success: false, output: '', error } };
}

/** What a run did that ended by itself, but did not do what was asked. Undefined for one that did. */
export function describeShortEnd(reason: Run['finish_reason']): string | undefined {
  const isShort = reason === 'budget_exceeded' || reason === 'max_iterations' || reason === 'loop_detected';
  return isShort || reason === 'error' ? `The run ended before it was done: ${reason}.` : undefined;
}
