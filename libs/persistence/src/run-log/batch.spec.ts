import { type NewFact, messageId, runId, threadId } from '@rondo/contract';
import { type Claim, eventJson } from '@rondo/domain';
import fc from 'fast-check';
import { batchOf, recordedFacts } from './batch';

const claim: Claim = { runId: runId.parse('run_1'), threadId: threadId.parse('thr_1'), epoch: 3 };

const text = fc.string({ unit: 'binary' });
const metadata = fc.dictionary(text, fc.jsonValue());

const said = fc.record({ text, metadata, withoutRun: fc.boolean() }).map(({ text, metadata, withoutRun }): NewFact => ({
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
      content: [{ type: 'text', text }],
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
  it('gives each fact the bytes of its ordinary JSON', () => {
    const facts = fc.array(fc.oneof(said, failed), { maxLength: 6 });

    fc.assert(
      fc.property(facts, fc.nat(), fc.nat(), (facts, lastSeq, lastMessageSeq) => {
        const batch = batchOf(claim, facts, () => 'ABC');
        for (const fact of recordedFacts(batch, { lastSeq, lastMessageSeq }))
          expect(eventJson(fact)).toBe(JSON.stringify(fact));
      }),
    );
  });
});
