import type { MessageRow, RunRow } from '@rondo/client';
import { isNoteToAgent } from '@rondo/react';

/** The ids of messages with other words, each with the text of its counterpart in the other run. */
export type PairedTexts = ReadonlyMap<string, string>;

/**
 * Messages are counterparts by their author and place. What is still written is left out, because each word would be compared
 * again, and what Rondo told the agent: it would move the questions after it.
 */
export function pairTexts(rows: readonly RunRow[], others: readonly RunRow[]): PairedTexts {
  const texts = new Map<string, string>();
  const before = new Map<string, number>();
  for (const row of rows) {
    if (!isSaid(row)) continue;
    const place = before.get(row.role) ?? 0;
    before.set(row.role, place + 1);
    const other = messagesBy(row.role, others)[place];
    if (other && !row.isOpen && !other.isOpen && row.text !== other.text) texts.set(row.id, other.text);
  }
  return texts;
}

const messagesBy = (role: MessageRow['role'], rows: readonly RunRow[]): MessageRow[] =>
  rows.filter(isSaid).filter((row) => row.role === role);

const isSaid = (row: RunRow): row is MessageRow => row.kind === 'message' && !isNoteToAgent(row.message);
