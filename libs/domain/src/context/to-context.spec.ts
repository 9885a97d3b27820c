import { type Message, messageId } from '@rondo/contract';
import fc from 'fast-check';
import { summaryMessage } from '../compaction/summarize';
import { rangeBeforeTail } from '../compaction/summary-range';
import { type ContextState, initialContext } from '../run/context-state';
import { anyHistory, toHistory, historyRun } from '../testing/histories';
import { requestViolations } from '../testing/request-violations';
import { findCoverage } from './message-range';
import { pairCalls } from './pair-calls';
import { toContext, countSentImages } from './to-context';
import { listTurns } from './turns';

const reader = { runId: historyRun.id, model: historyRun.model, keepImages: 3 };
const toView = (conversation: readonly Message[], context: ContextState): readonly Message[] =>
  toContext(conversation, context, reader).map(({ message }) => message) as Message[];

interface ReducedHistory {
  readonly before: readonly Message[];
  readonly context: ContextState;
}

/** A history, reduced by a summary, shortened texts, omitted messages, or several of these. */
const anyReducedHistory: fc.Arbitrary<ReducedHistory> = fc
  .record({
    history: anyHistory(25),
    tail: fc.nat({ max: 6 }),
    summarized: fc.boolean(),
    keep: fc.constantFrom(undefined, 0, 48, 768, 12_288),
    leavesOut: fc.boolean(),
  })
  .map(({ history, tail, summarized, keep, leavesOut }) => {
    const reduced = summarized ? withSummary(history, tail) : { before: history, context: initialContext };
    const newest = reduced.before.at(-1)?.id;
    if (keep === undefined || !newest) return reduced;
    const summaryEnd = reduced.context.summary?.covers.to_message_id;
    const after = listTurns(reduced.before).filter(
      ({ first }) => first > reduced.before.findIndex(({ id }) => id === summaryEnd),
    );
    const last = after[Math.floor(after.length / 2)];
    const omitted =
      leavesOut && after[1] && last && last.first >= after[1].first
        ? findCoverage(reduced.before, { first: after[1].first, last: last.last })
        : undefined;
    const compression = { through: newest, keepCharacters: keep, omitted };
    return { before: reduced.before, context: { ...reduced.context, compression, changedAt: newest } };
  });

function withSummary(history: readonly Message[], tailTokens: number): ReducedHistory {
  const range = rangeBeforeTail({ conversation: history, summarized: undefined }, { tailTokens, countTokens: () => 1 });
  const covers = range && findCoverage(history, range);
  if (!covers) return { before: history, context: initialContext };
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
  return { before: [...history, stored], context: { ...initialContext, summary: { id, covers }, changedAt: id } };
}

const renamed = (messages: readonly Message[]): Message[] =>
  JSON.parse(JSON.stringify(messages).replaceAll(/"(msg|call)_/g, '"$1_9')) as Message[]; // the same messages under other ids

it('makes a valid request of any conversation, however it was reduced (I6)', () => {
  fc.assert(
    fc.property(anyReducedHistory, anyHistory(5), ({ before, context }, more) => {
      expect(requestViolations(pairCalls(toView(before, context)))).toEqual([]);
      expect(requestViolations(pairCalls(toView([...before, ...renamed(more)], context)))).toEqual([]);
    }),
    { numRuns: 300 },
  );
});

it('keeps the newest user message unchanged (I13)', () => {
  fc.assert(
    fc.property(anyReducedHistory, ({ before, context }) => {
      const newest = before.findLast(({ type }) => type === 'user');
      expect(toView(before, context)).toContainEqual(newest);
    }),
  );
});

it('only grows at its end until it is reduced again', () => {
  fc.assert(
    fc.property(anyReducedHistory, anyHistory(10), ({ before, context }, more) => {
      const later = renamed(more);
      const whole = toView([...before, ...later], context).map((message) => JSON.stringify(message));
      for (let count = 0; count <= later.length; count++) {
        const part = toView([...before, ...later.slice(0, count)], context).map((message) => JSON.stringify(message));
        expect(whole.slice(0, part.length)).toEqual(part);
      }
    }),
  );
});

it('sends later messages unchanged', () => {
  fc.assert(
    fc.property(anyReducedHistory, anyHistory(5), ({ before, context }, more) => {
      const later = renamed(more);
      expect(toView([...before, ...later], context).slice(-later.length)).toEqual(later);
    }),
  );
});

it('sends reasoning that its provider wants back with its calls from any run, also after the context changed', () => {
  const unbound = { kind: 'reply', text: 'Yes.', calls: 0, parts: false, thinks: true, output: 'read' } as const;
  const conversation = toHistory([{ kind: 'user', text: 'Go.' }, unbound, unbound]);
  const context = { ...initialContext, changedAt: conversation[2]?.id };
  const readers = [reader, { ...reader, runId: undefined }, { ...reader, model: 'demo/other' }];

  const thoughts = readers.map((one) =>
    toContext(conversation, context, one).flatMap(({ message }) =>
      message.content.filter((block) => 'opaque' in block),
    ),
  );

  expect(thoughts.map(({ length }) => length)).toEqual([2, 2, 0]);
});

it('sends no other reasoning from before the context changed, from another run or from another model', () => {
  const thinks = { kind: 'reply', text: 'Yes.', calls: 0, parts: false, thinks: true, output: '' } as const;
  const conversation = toHistory([{ kind: 'user', text: 'Go.' }, thinks, thinks, thinks]);
  const context = { ...initialContext, changedAt: conversation[1]?.id };
  const withReasoning = (with_: Partial<typeof reader>) =>
    toContext(conversation, context, { ...reader, ...with_ }).flatMap(({ message, index }) =>
      message.content.some(({ type }) => type === 'reasoning') ? [index] : [],
    );

  expect(withReasoning({})).toEqual([2, 3]);
  expect(withReasoning({ model: 'demo/other' })).toEqual([]);
});

it('notes in a shortened message how to read the whole', () => {
  const conversation = toHistory([
    { kind: 'user', text: 'Go.' },
    { kind: 'reply', text: 'Reading.', calls: 1, parts: false, thinks: false, output: 'x'.repeat(5_000) },
    { kind: 'reply', text: 'Again.', calls: 1, parts: false, thinks: false, output: 'y'.repeat(5_000) },
    { kind: 'user', text: 'z'.repeat(5_000) },
  ]);
  const compression = { through: messageId.parse('msg_3'), keepCharacters: 1_000, omitted: undefined };
  const [, , first, , second, newest] = toView(conversation, { ...initialContext, compression });
  const length = (message: unknown) => JSON.stringify(message).length;

  expect(JSON.stringify(first)).toContain('expand_message(\\"msg_1r0\\")');
  expect(length(first)).toBeLessThan(1_800);
  expect(length(second)).toBeGreaterThan(4_000);
  expect(newest).toEqual(conversation[5]);
});

it.each([
  [5, '11111'],
  [6, '000111'],
  [8, '00011111'],
  [9, '000000111'],
])('keeps the newest of %i images, which leave three at a time, and notes where the others were', (count, kept) => {
  const image = { type: 'image', source: { type: 'url', url: 'https://example.test/a.png' } } as const;
  const conversation = toHistory(Array.from({ length: count }, () => ({ kind: 'user', text: 'Look.' }))).map(
    (message) => ({
      ...message,
      content: [...message.content, image],
    }),
  );
  const types = toView(conversation, initialContext).map(({ content }) => content.at(-1)?.type);

  expect(types).toEqual(Array.from(kept, (digit) => (digit === '1' ? 'image' : 'text')));
});

it.each([0, 1, 2, 3, 20])('sends at least the %i newest images, and at most two more', (keepImages) => {
  const image = { type: 'image', source: { type: 'url', url: 'https://example.test/a.png' } } as const;
  for (let count = 0; count < 50; count += 1) {
    const history = toHistory(Array.from({ length: count }, () => ({ kind: 'user', text: 'Look.' })));
    const conversation = history.map((message) => ({ ...message, content: [...message.content, image] }));
    const sent = toContext(conversation, initialContext, { ...reader, keepImages });
    const left = sent.filter(({ message }) => message.content.some((block) => block.type === 'image')).length;

    expect(left).toBeGreaterThanOrEqual(Math.min(count, keepImages));
    expect(left).toBeLessThanOrEqual(countSentImages(keepImages));
  }
});
