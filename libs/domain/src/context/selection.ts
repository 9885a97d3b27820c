import { addedTo } from '../memoize/memoize-growing-list';
import type { NewMessage } from '@rondo/contract';
import { hiddenFieldsOf } from '../memoize/hidden-fields';
import type { AgentRun } from '../loop/loop-context';
import type { RunState } from '../run/run-state';
import { type ContextReader, contextOf, contextOfMore } from './context-of';
import type { Sent } from './sent-message';

/** What of a run's conversation is sent. */
export interface Selection {
  readonly sent: readonly Sent[];
  /** The same without their places. */
  readonly messages: readonly NewMessage[];
}

type Whole = Pick<RunState, 'conversation' | 'context'>;

const known = hiddenFieldsOf<AgentRun, Whole & Selection>();

/** It is asked for more than once in an iteration, and made once, of what is new. */
export function selectionOf(run: AgentRun, { conversation, context }: Whole): Selection {
  const before = known.get(run);
  if (before?.conversation === conversation && before.context === context) return before;

  const { model, context: settings } = run.settings;
  const reader = { runId: run.id, model, keepImages: settings.keep_images };
  const grown = before?.context === context ? grownFrom(before, conversation, reader) : undefined;
  const selection = { conversation, context, ...(grown ?? selected(contextOf(conversation, context, reader))) };
  known.set(run, selection);
  return selection;
}

function grownFrom(
  { conversation: earlier, ...before }: Whole & Selection,
  conversation: Whole['conversation'],
  reader: ContextReader,
): Selection | undefined {
  const added = addedTo(earlier, conversation)?.map((message, at) => ({ message, at: earlier.length + at }));
  const sent = added && contextOfMore(added, reader);
  const more = sent && selected(sent);
  return more && { sent: [...before.sent, ...more.sent], messages: [...before.messages, ...more.messages] };
}

const selected = (sent: readonly Sent[]): Selection => ({ sent, messages: sent.map(({ message }) => message) });
