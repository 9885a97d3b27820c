import type { ToolCallRow } from '@rondo/client';

/** Calls by which an agent speaks to the person: what they say is an answer, not a parameter. */
const speaking: readonly string[] = ['ask', 'complete', 'message_user', 'web_browser_takeover'];

export interface SpokenText {
  readonly text: string;
  /** Files that it shows. */
  readonly attachments: readonly string[];
}

/** What a call says to the person; undefined for every other call, and while the model writes it. */
export function spokenText({
  name,
  arguments: known,
}: Pick<ToolCallRow, 'name' | 'arguments'>): SpokenText | undefined {
  if (!speaking.includes(name) || typeof known?.['text'] !== 'string' || known['text'].trim() === '') return undefined;
  const named = [known['attachments'] ?? []].flat();
  return { text: known['text'], attachments: named.filter((file): file is string => typeof file === 'string') };
}
