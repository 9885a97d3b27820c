import fc from 'fast-check';
import { pairCalls } from '../dialects/pair-calls';
import { type Message, messageId } from '@rondo/contract';
import { anyHistory, historyOf, historyRun } from '../testing/histories';
import { requestViolations } from '../testing/request-violations';
import { type ContextState, wholeConversation } from './context-state';
import { contextOf } from './context-of';
import { turnsOf } from './turns';
import { rangeBeforeTail } from '../compaction/summary-range';
import { coverageOf } from './message-range';
import { summaryMessage } from '../compaction/summary-message';

const reader = { runId: historyRun.id, model: historyRun.model, keepImages: 3 };
const viewOf = (conversation: readonly Message[], context: ContextState): readonly Message[] =>
  contextOf(conversation, context, reader).map(({ message }) => message) as Message[];

interface Made {
  readonly before: readonly Message[];
  readonly context: ContextState;
}

/** A history, made smaller in some way: a summary, shortened texts, a stretch left out, or all of it. */
const anyMade: fc.Arbitrary<Made> = fc
  .record({
    history: anyHistory(25),
    tail: fc.nat({ max: 6 }),
    summarized: fc.boolean(),
    keep: fc.constantFrom(undefined, 0, 48, 768, 12_288),
    leavesOut: fc.boolean(),
  })
  .map(({ history, tail, summarized, keep, leavesOut }) => {
    const folded = summarized ? withSummary(history, tail) : { before: history, context: wholeConversation };
    const newest = folded.before.at(-1)?.id;
    if (keep === undefined || !newest) return folded;
    const begins = folded.context.summary?.covers.to_message_id;
    const after = turnsOf(folded.before).filter(
      ({ first }) => first > folded.before.findIndex(({ id }) => id === begins),
    );
    const last = after[Math.floor(after.length / 2)];
    const omitted =
      leavesOut && after[1] && last && last.first >= after[1].first
        ? coverageOf(folded.before, { first: after[1].first, last: last.last })
        : undefined;
    const compression = { through: newest, keepCharacters: keep, omitted };
    return { before: folded.before, context: { ...folded.context, compression, changedAt: newest } };
  });

function withSummary(history: readonly Message[], tailTokens: number): Made {
  const stretch = rangeBeforeTail({ conversation: history, folded: undefined }, { tailTokens, tokensOf: () => 1 });
  const covers = stretch && coverageOf(history, stretch);
  if (!covers) return { before: history, context: wholeConversation };
  const id = messageId.parse('msg_summary');
  const written = { id, iteration: 0, summary: 'What happened.', covers, parentId: undefined, tokenCount: 9 };
  const message = summaryMessage(
    {
      id: historyRun.id,
      threadId: history[0]?.thread_id ?? ('' as never),
      settings: { context: { strategy: 'summary' } },
    },
    written,
  );
  const stored = { ...message, seq: history.length + 1, created_at: '2026-01-01T00:00:00.000Z' };
  return { before: [...history, stored], context: { ...wholeConversation, summary: { id, covers }, changedAt: id } };
}

const renamed = (messages: readonly Message[]): Message[] =>
  JSON.parse(JSON.stringify(messages).replaceAll(/"(msg|call)_/g, '"$1_9')) as Message[]; // the same messages under other ids

it('makes a valid request of any conversation, however it was made smaller (I6, W33)', () => {
  fc.assert(
    fc.property(anyMade, anyHistory(5), ({ before, context }, more) => {
      expect(requestViolations(pairCalls(viewOf(before, context)))).toEqual([]);
      expect(requestViolations(pairCalls(viewOf([...before, ...renamed(more)], context)))).toEqual([]);
    }),
    { numRuns: 300 },
  );
});

it('keeps the newest words of the user, to the letter (I13)', () => {
  fc.assert(
    fc.property(anyMade, ({ before, context }) => {
      const newest = before.findLast(({ type }) => type === 'user');
      expect(viewOf(before, context)).toContainEqual(newest);
    }),
  );
});

it('only grows at its end until it is made smaller again', () => {
  fc.assert(
    fc.property(anyMade, anyHistory(10), ({ before, context }, more) => {
      const later = renamed(more);
      const whole = viewOf([...before, ...later], context).map((message) => JSON.stringify(message));
      for (let count = 0; count <= later.length; count++) {
        const part = viewOf([...before, ...later.slice(0, count)], context).map((message) => JSON.stringify(message));
        expect(whole.slice(0, part.length)).toEqual(part);
      }
    }),
  );
});

it('changes nothing of what was said since', () => {
  fc.assert(
    fc.property(anyMade, anyHistory(5), ({ before, context }, more) => {
      const later = renamed(more);
      expect(viewOf([...before, ...later], context).slice(-later.length)).toEqual(later);
    }),
  );
});

it('gives back no thought that came before the context changed, from another run or from another model', () => {
  const thinks = { kind: 'reply', text: 'Yes.', calls: 0, parts: false, thinks: true, output: '' } as const;
  const conversation = historyOf([{ kind: 'user', text: 'Go.' }, thinks, thinks, thinks]);
  const context = { ...wholeConversation, changedAt: conversation[1]?.id };
  const thoughtful = (with_: Partial<typeof reader>) =>
    contextOf(conversation, context, { ...reader, ...with_ }).flatMap(({ message, at }) =>
      message.content.some(({ type }) => type === 'reasoning') ? [at] : [],
    );

  expect(thoughtful({})).toEqual([2, 3]);
  expect(thoughtful({ model: 'demo/other' })).toEqual([]);
});

it('says of a shortened message where the whole is', () => {
  const conversation = historyOf([
    { kind: 'user', text: 'Go.' },
    { kind: 'reply', text: 'Reading.', calls: 1, parts: false, thinks: false, output: 'x'.repeat(5_000) },
    { kind: 'reply', text: 'Again.', calls: 1, parts: false, thinks: false, output: 'y'.repeat(5_000) },
    { kind: 'user', text: 'z'.repeat(5_000) },
  ]);
  const compression = { through: messageId.parse('msg_3'), keepCharacters: 1_000, omitted: undefined };
  const [, , first, , second, newest] = viewOf(conversation, { ...wholeConversation, compression });
  const length = (message: unknown) => JSON.stringify(message).length;

  expect(JSON.stringify(first)).toContain('expand_message(\\"msg_1r0\\")');
  expect(length(first)).toBeLessThan(1_800);
  expect(length(second)).toBeGreaterThan(4_000);
  expect(newest).toEqual(conversation[5]);
});

it('shows the newest images, and says where the others were', () => {
  const image = { type: 'image', source: { type: 'url', url: 'https://example.test/a.png' } } as const;
  const conversation = historyOf(Array.from({ length: 5 }, () => ({ kind: 'user', text: 'Look.' }))).map((message) => ({
    ...message,
    content: [...message.content, image],
  }));
  const types = viewOf(conversation, wholeConversation).map(({ content }) => content.at(-1)?.type);

  expect(types).toEqual(['text', 'text', 'image', 'image', 'image']);
});
