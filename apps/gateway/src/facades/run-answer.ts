import type { ToolCall } from '@rondo/contract';

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
