import type { ContentBlock, Message, Run, RunStatus, ToolCallBlock } from '@rondo/contract';
import type { SunaRow } from '@rondo/contract/api';
import type { Thread } from '@rondo/persistence';
import type { OfferedModel } from '../../catalog/model-catalog';
import { type AnsweredCall, describeShortEnd } from '../run-answer';

/** A row before its content and its metadata are written as text. */
export interface RowParts {
  readonly message_id: string | null;
  readonly thread_id: string;
  readonly type: string;
  readonly is_llm_message: boolean;
  readonly content: object;
  readonly metadata: object;
  readonly at: string;
}

export const toSunaRow = ({ content, metadata, at, ...parts }: RowParts): SunaRow => ({
  ...parts,
  content: JSON.stringify(content),
  metadata: JSON.stringify(metadata),
  created_at: at,
  updated_at: at,
});

/** A stored message. The results of calls have a row each, as in the stream of a run. */
export function toMessageRows(message: Message): SunaRow[] {
  const { id, thread_id, run_id: runId, type, is_llm_message, created_at: at } = message;
  const row = { thread_id, type, is_llm_message, metadata: { thread_run_id: runId }, at };
  if (type !== 'tool') return [toSunaRow({ ...row, message_id: id, content: toContent(message) })];
  return message.content.flatMap((block) =>
    block.type === 'tool_result'
      ? [toSunaRow({ ...row, message_id: toResultId(block), content: toResult(block) })]
      : [],
  );
}

/** The message of a model or a person, in the form that a model reads. */
export function toContent({ type, content }: Pick<Message, 'type' | 'content'>): object {
  const calls = content.flatMap((block) => (block.type === 'tool_call' ? [toCall(block)] : []));
  const role = type === 'assistant' ? 'assistant' : 'user';
  return { role, content: toText(content), ...(calls.length > 0 && { tool_calls: calls }) };
}

const toText = (content: readonly ContentBlock[]): string =>
  content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n\n');

const toCall = ({ tool_call_id: id, name, arguments: given }: ToolCallBlock): object => ({
  id,
  type: 'function',
  function: { name, arguments: JSON.stringify(given) },
});

export const toResultId = ({ tool_call_id: id }: Pick<AnsweredCall, 'tool_call_id'>): string => `result_${id}`;

export const toResult = ({ tool_call_id: id, name, result }: AnsweredCall): object => ({
  role: 'tool',
  tool_call_id: id,
  name,
  content: result.success ? result.output : (result.error ?? result.output),
});

/** How Suna names what a run has come to. A run that waits for an answer has ended there. */
type SunaStatus = 'running' | 'completed' | 'stopped' | 'failed';

const statuses: Partial<Record<RunStatus, SunaStatus>> = { stopped: 'stopped', failed: 'failed' };

function toStatus({ status, finish_reason: reason, waiting }: Run): SunaStatus {
  if (status === 'completed') return describeShortEnd(reason) === undefined ? 'completed' : 'failed';
  return waiting?.reason === 'ask' ? 'completed' : (statuses[status] ?? 'running');
}

export const toSunaRun = (run: Run) => ({
  id: run.id,
  thread_id: run.thread_id,
  status: toStatus(run),
  started_at: run.started_at ?? run.created_at,
  completed_at: run.finished_at,
  error: run.error?.message ?? describeShortEnd(run.finish_reason) ?? null,
  created_at: run.created_at,
});

export const toSunaThread = (account_id: string, { id, title, preview, created_at, ...thread }: Thread) => ({
  thread_id: id,
  project_id: thread.project_id,
  account_id,
  name: title ?? preview,
  is_public: thread.is_public,
  metadata: thread.metadata,
  created_at,
  updated_at: thread.newest_run?.created_at ?? created_at,
});

/** A model of the catalogue. None needs a subscription. */
export const toSunaModel = ({ id, price, context_window, default: isDefault }: OfferedModel) => ({
  id,
  display_name: id,
  short_name: id.slice(id.indexOf('/') + 1),
  requires_subscription: false,
  is_available: true,
  input_cost_per_million_tokens: price?.input ?? null,
  output_cost_per_million_tokens: price?.output ?? null,
  context_window,
  recommended: isDefault,
});
