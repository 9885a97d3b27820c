import type { MessageId } from '../ids';
import type { Coverage, NewMessage } from '../message';
import type { AgentRun } from '../pass';

const begin = '======== CONVERSATION HISTORY SUMMARY ========';
const end = '======== END OF SUMMARY ========';
const after = 'The above is a summary of the conversation so far. The conversation continues below.';

interface Summarized {
  readonly id: MessageId;
  readonly iteration: number;
  readonly summary: string;
  readonly covers: Coverage;
  /** The summary that is folded into this one. */
  readonly parentId: MessageId | undefined;
  readonly tokenCount: number;
}

/** A summary as it joins the thread: what the model will read, to the letter (SM6). */
export const summaryMessage = (
  run: Pick<AgentRun, 'id' | 'threadId'>,
  { id, iteration, summary, covers, parentId, tokenCount }: Summarized,
): NewMessage => ({
  id,
  thread_id: run.threadId,
  run_id: run.id,
  iteration,
  type: 'summary',
  is_llm_message: true,
  content: [{ type: 'text', text: [begin, summary, end, after].join('\n\n') }],
  metadata: { covers, parent_summary_id: parentId ?? null, token_count: tokenCount },
});

/** The summary without its frame. */
export function summaryIn({ content }: NewMessage): string {
  const text = content.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
  const from = text.startsWith(begin) ? begin.length : 0;
  const to = text.lastIndexOf(end);
  return text.slice(from, to < from ? undefined : to).trim();
}
