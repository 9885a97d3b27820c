import { type ContentBlock, type Coverage, type Message, type NewFact, compactionId, messageId } from '@rondo/contract';
import type { ClaimedRun } from '@rondo/domain';
import { iterationStarted, nextId, planned } from './store-fixture';

type Said = Extract<NewFact, { type: 'message.created' }>;

/** What a run's fact about a message says. */
export function message(
  { runId, threadId }: ClaimedRun,
  iteration: number,
  { type, content, metadata = {} }: Pick<Message, 'type' | 'content'> & { metadata?: Message['metadata'] },
): Said {
  const id = messageId.parse(`msg_${nextId()}`);
  const made = { id, thread_id: threadId, run_id: runId, iteration, type, is_llm_message: true, content, metadata };
  return { type: 'message.created', iteration, data: { message: made } };
}

interface Iteration {
  readonly iteration: number;
  readonly tool: string;
  readonly input?: Record<string, unknown>;
  /** What the reply has before its call. */
  readonly said: ContentBlock[];
  /** What the reply's call has beside its name and arguments. */
  readonly given?: object;
  readonly output: string;
}

/** The facts of an iteration with one call, and what its first and last message cover. */
export function iterationFacts(
  claim: ClaimedRun,
  { iteration, tool, input = {}, said, given = {}, output }: Iteration,
): { readonly facts: NewFact[]; readonly covers: Coverage } {
  const call = planned(claim, { name: tool, input });
  const { id } = call.data.tool_call;
  const reply = message(claim, iteration, {
    type: 'assistant',
    content: [...said, { type: 'tool_call', tool_call_id: id, name: tool, arguments: input, ...given }],
  });
  const result = { success: true, output };
  const answer = message(claim, iteration, {
    type: 'tool',
    content: [{ type: 'tool_result', tool_call_id: id, name: tool, result }],
  });
  const about = { tool_call_id: id, name: tool };
  const ids = { from_message_id: reply.data.message.id, to_message_id: answer.data.message.id };
  const facts: NewFact[] = [
    iterationStarted(iteration),
    reply,
    {
      ...call,
      iteration,
      data: { tool_call: { ...call.data.tool_call, iteration, message_id: ids.from_message_id } },
    },
    { type: 'tool.started', iteration, data: { ...about, attempt: 1, store: null } },
    { type: 'tool.completed', iteration, data: { ...about, message_id: ids.to_message_id, result, duration_ms: 1 } },
    answer,
    { type: 'iteration.completed', iteration, data: { iteration, finish_reason: 'tool_calls' } },
  ];
  return { facts, covers: ids };
}

/** The facts of a summary of what it covers. */
export function summaryFacts(
  claim: ClaimedRun,
  { iteration, covers, text }: { iteration: number; covers: Coverage; text: string },
): NewFact[] {
  const summary = message(claim, iteration, {
    type: 'summary',
    content: [{ type: 'text', text }],
    metadata: { covers, parent_summary_id: null, token_count: 1 },
  });
  const data = { method: 'summary' as const, compaction_id: compactionId.parse(`cmp_${nextId()}`), covers };
  const { id: message_id } = summary.data.message;
  return [
    summary,
    { type: 'context.compacted', iteration, data: { ...data, message_id, tokens_before: 9, tokens_after: 1 } },
  ];
}
