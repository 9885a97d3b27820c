import type { Coverage, MessageId, NewMessage, RunSettings } from '@rondo/contract';
import type { AgentRun } from '../loop/loop-context';
import { quoteMarks } from '../context/quote-marks';

const begin = '======== CONVERSATION HISTORY SUMMARY ========';
const end = '======== END OF SUMMARY ========';
const after = 'The above is a summary of the conversation so far. The conversation continues below.';

/** How a summary begins that is a turn among others (SM19). */
const label = 'Conversation Summary: ';

/** The run that a summary is written for. */
type Summarizing = Pick<AgentRun, 'id' | 'threadId'> & {
  readonly settings: { readonly context: Pick<RunSettings['context'], 'strategy'> };
};

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
  run: Summarizing,
  { id, iteration, summary, covers, parentId, tokenCount }: Summarized,
): NewMessage => ({
  id,
  thread_id: run.threadId,
  run_id: run.id,
  iteration,
  type: 'summary',
  is_llm_message: true,
  content: [{ type: 'text', text: framed(summary, run.settings) }],
  metadata: { covers, parent_summary_id: parentId ?? null, token_count: tokenCount },
});

const framed = (summary: string, { context }: Summarizing['settings']): string =>
  context.strategy === 'head_tail' ? `${label}${summary}` : [begin, quoteMarks(summary), end, after].join('\n\n');

/** The summary without its frame, whichever strategy wrote it: a thread's runs may differ in theirs. */
export function summaryIn({ content }: NewMessage): string {
  const text = content.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
  if (text.startsWith(label)) return text.slice(label.length).trim();
  const from = text.startsWith(begin) ? begin.length : 0;
  const to = text.lastIndexOf(end);
  return text.slice(from, to < from ? undefined : to).trim();
}
