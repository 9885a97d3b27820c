import type { Message } from '@rondo/contract';
import type { ModelMessage } from '../models/model';
import { profiles } from '../profiles/profiles';
import { initialContext, withEarlierSummary } from '../run/context-state';
import { pairTurns } from './pair-calls';
import { toContext } from './to-context';

/**
 * What the first model call of a run that begins now has of its thread, in the order of the thread: after the system prompt,
 * and before the input of the run. With native tool calls and the usual number of images; a run whose settings differ, or whose
 * context is compacted first, sends it otherwise. No reasoning: what goes back of it is between the run and its provider.
 */
export function messagesForNextRun(conversation: readonly Message[]): readonly ModelMessage[] {
  const context = withEarlierSummary(initialContext, conversation);
  const { keep_images: keepImages } = profiles.suna.settings.context;
  const sent = toContext(conversation, context, { runId: undefined, model: '', keepImages });
  return pairTurns(sent.map(({ message }) => message as Message)); // they are derived from stored ones
}
