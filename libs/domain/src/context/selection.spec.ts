import type { Message } from '@rondo/contract';
import fc from 'fast-check';
import { summaryMessage } from '../compaction/summarize';
import type { AgentRun } from '../loop-context';
import { effectiveSettings } from '../profiles/effective-settings';
import { initialContext } from '../run/context-state';
import { anyHistory, historyRun } from '../testing/histories';
import { findSelection } from './selection';
import { toContext } from './to-context';

const effective = effectiveSettings({ context: { keep_images: 2 } }, { model: historyRun.model });
if ('problems' in effective) throw new Error('These settings are valid.');
const { settings } = effective;
const aRun = (): AgentRun => ({ id: historyRun.id, settings, createdAt: '2026-01-01T00:00:00.000Z' }) as AgentRun;
const reader = { runId: historyRun.id, model: historyRun.model, keepImages: 2 };

const image = { type: 'image', source: { type: 'url', url: 'https://example.test/a.png' } } as const;
const withImage = (message: Message): Message => ({ ...message, content: [...message.content, image] });
const ofOtherModel = (message: Message): Message => ({ ...message, metadata: { model: 'demo/other' } });
const summary = (message: Message): Message => ({
  ...message,
  ...summaryMessage(
    { id: historyRun.id, threadId: message.thread_id, settings },
    {
      id: message.id,
      iteration: 0,
      summary: 'All.',
      covers: { from_message_id: message.id, to_message_id: message.id },
      parentId: undefined,
      tokenCount: 1,
    },
  ),
});

/** Histories with images in some messages, messages of other models, and summaries that no fact refers to yet. */
const anyConversation = fc
  .tuple(
    anyHistory(12),
    fc.array(fc.constantFrom(undefined, undefined, withImage, ofOtherModel, summary), { minLength: 60 }),
  )
  .map(([history, changes]) => history.map((message, at) => changes[at]?.(message) ?? message));

describe('findSelection', () => {
  it('equals toContext, however the conversation grew', () => {
    fc.assert(
      fc.property(anyConversation, fc.array(fc.nat({ max: 4 })), (conversation, changes) => {
        const run = aRun();
        let context = { ...initialContext };
        for (let length = 1; length <= conversation.length; length++) {
          const grown = conversation.slice(0, length);
          if (changes[length] === 0) context = { ...context, changedAt: grown.at(-1)?.id };

          const { sent, messages } = findSelection(run, { conversation: grown, context });

          expect(sent).toEqual(toContext(grown, context, reader));
          expect(messages).toEqual(sent.map(({ message }) => message));
        }
      }),
    );
  });

  it('is computed once for each conversation, from what is new in it', () => {
    const run = aRun();
    const [conversation = []] = fc.sample(anyHistory(12), 1);
    const context = initialContext;
    const before = findSelection(run, { conversation: conversation.slice(0, -1), context });

    const after = findSelection(run, { conversation, context });

    expect(before.sent.every((one, at) => one === after.sent[at])).toBe(true);
    expect(findSelection(run, { conversation, context })).toBe(after);
  });
});
