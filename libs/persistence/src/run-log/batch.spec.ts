import { type ContentBlock, type NewFact, messageId, runId, toShownEvent, threadId } from '@rondo/contract';
import { type Claim, eventJson } from '@rondo/domain';
import fc from 'fast-check';
import { toBatch, toRecordedFacts } from './batch';

const claim: Claim = { runId: runId.parse('run_1'), threadId: threadId.parse('thr_1'), epoch: 3 };

const text = fc.string({ unit: 'binary' });
const metadata = fc.dictionary(text, fc.jsonValue());

const opaque = fc.option(
  text.map((data) => ({ maker: 'a/b', data })),
  { nil: undefined },
);
const block = fc.oneof(
  text.map((text): ContentBlock => ({ type: 'text', text })),
  fc
    .record({ text, opaque })
    .map(({ text, opaque }): ContentBlock => ({ type: 'reasoning', text, ...(opaque && { opaque }) })),
);
const content = fc.array(block, { maxLength: 3 });

const said = fc
  .record({ content, metadata, withoutRun: fc.boolean() })
  .map(({ content, metadata, withoutRun }): NewFact => ({
    type: 'message.created',
    iteration: 1,
    data: {
      message: {
        id: messageId.parse('msg_1'),
        thread_id: claim.threadId,
        run_id: withoutRun ? null : claim.runId,
        iteration: withoutRun ? null : 1,
        type: 'assistant',
        is_llm_message: true,
        content,
        metadata,
      },
    },
  }));

const failed = text.map((message): NewFact => ({
  type: 'model.retried',
  iteration: 1,
  data: { attempt: 1, delay_ms: 0, error: { code: 'x', message } },
}));

describe('recordedFacts', () => {
  it('dates no fact before those that the run continues from, whose writer had another clock', () => {
    const [input] = fc.sample(said, 1);
    if (!input) throw new Error('no fact');
    const at = (year: string) => {
      const end = { seq: 1, at: `${year}-01-01T00:00:00.000Z` };
      return toBatch(claim, { facts: [input], newId: () => '01K' }, end).at;
    };

    expect(at('2999')).toBe('2999-01-01T00:00:00.000Z');
    expect(at('1999') > '2020').toBe(true);
  });

  it('gives each fact the bytes of its JSON as it is shown', () => {
    const facts = fc.array(fc.oneof(said, failed), { maxLength: 6 });

    fc.assert(
      fc.property(facts, fc.nat(), fc.nat(), (facts, lastSeq, lastMessageSeq) => {
        const batch = toBatch(claim, { facts, newId: () => 'ABC' });
        for (const fact of toRecordedFacts(batch, { lastSeq, lastMessageSeq }))
          expect(eventJson(fact)).toBe(JSON.stringify(toShownEvent(fact)));
      }),
    );
  });
});
