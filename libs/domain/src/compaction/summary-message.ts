import type { Coverage, MessageId, NewMessage, RunSettings } from '@rondo/contract';
import type { AgentRun } from '../loop/loop-context';
import { quoteMarks } from './summary-prompt';

const begin = '======== CONVERSATION HISTORY SUMMARY ========';
const end = '======== END OF SUMMARY ========';
const after = 'The above is a summary of the conversation so far. The conversation continues below.';

/** Begins a summary of the strategy `head_tail`, which is sent as a turn like others. */
const label = 'Conversation Summary: ';

/** The run that a summary is written for. */
type SummarizedRun = Pick<AgentRun, 'id' | 'threadId'> & {
  readonly settings: { readonly context: Pick<RunSettings['context'], 'strategy'> };
};

interface NewSummary {
  readonly id: MessageId;
  readonly iteration: number;
  readonly summary: string;
  readonly covers: Coverage;
  /** The earlier summary that this one includes. */
  readonly parentId: MessageId | undefined;
  readonly tokenCount: number;
}

/** A summary as it is stored in the thread and sent to the model, byte for byte. */
export const summaryMessage = (
  run: SummarizedRun,
  { id, iteration, summary, covers, parentId, tokenCount }: NewSummary,
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

const framed = (summary: string, { context }: SummarizedRun['settings']): string =>
  context.strategy === 'head_tail' ? `${label}${summary}` : [begin, quoteMarks(summary), end, after].join('\n\n');

/** The summary without its frame. Accepts the frames of all strategies, because the runs of a thread may differ in theirs. */
export function summaryIn({ content }: NewMessage): string {
  const text = content.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
  if (text.startsWith(label)) return text.slice(label.length).trim();
  const from = text.startsWith(begin) ? begin.length : 0;
  const to = text.lastIndexOf(end);
  return text.slice(from, to < from ? undefined : to).trim();
}
