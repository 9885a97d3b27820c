import type { NewMessage } from '@rondo/contract';
import type { AgentRun } from '../loop-context';
import { listAdded, toHiddenFields } from '../memoize';
import type { RunState } from '../run/run-state';
import type { SentMessage } from './message-range';
import { type ContextReader, toContext, contextOfMore } from './to-context';

/** The messages of a run's conversation that are sent. */
export interface Selection {
  readonly sent: readonly SentMessage[];
  /** The same without their indexes. */
  readonly messages: readonly NewMessage[];
}

type ContextSource = Pick<RunState, 'conversation' | 'context'>;

const latestSelection = toHiddenFields<AgentRun, ContextSource & Selection & { readonly model: string }>();

/** Memoized per run: an iteration asks several times, and only added messages are processed. */
export function findSelection(
  run: AgentRun,
  { conversation, context }: ContextSource,
  model = run.settings.model,
): Selection {
  const latest = latestSelection.get(run);
  const before = latest?.model === model ? latest : undefined;
  if (before?.conversation === conversation && before.context === context) return before;

  const { context: settings } = run.settings;
  const reader = { runId: run.id, model, keepImages: settings.keep_images };
  const extended = before?.context === context ? extend(before, conversation, reader) : undefined;
  const selection = {
    conversation,
    context,
    model,
    ...(extended ?? toSelection(toContext(conversation, context, reader))),
  };
  latestSelection.set(run, selection);
  return selection;
}

function extend(
  { conversation: earlier, ...before }: ContextSource & Selection,
  conversation: ContextSource['conversation'],
  reader: ContextReader,
): Selection | undefined {
  const added = listAdded(earlier, conversation)?.map((message, offset) => ({
    message,
    index: earlier.length + offset,
  }));
  const sent = added && contextOfMore(added, reader);
  const more = sent && toSelection(sent);
  return more && { sent: [...before.sent, ...more.sent], messages: [...before.messages, ...more.messages] };
}

const toSelection = (sent: readonly SentMessage[]): Selection => ({
  sent,
  messages: sent.map(({ message }) => message),
});
