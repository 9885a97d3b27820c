import { type NewFact, callId, messageId } from '@rondo/contract';
import { callChanges } from './ledger-rows';

const id = callId.parse('call_1');
const said = messageId.parse('msg_1');
const unchanged = { id, plan: null, result: null, attempt: null, started: false, finished: false };

const changesBy = (...facts: NewFact[]) => callChanges(facts.map((fact) => ({ fact })));

const started: NewFact = {
  type: 'tool.started',
  iteration: 1,
  data: { tool_call_id: id, name: 'bash', attempt: 2, store: null },
};
const unknown = (told: boolean): NewFact => ({
  type: 'tool.unknown',
  iteration: 1,
  data: { tool_call_id: id, name: 'bash', reason: 'no answer', ...(told && { message_id: said }) },
});

describe('what facts change in the ledger', () => {
  it('is one change of a call, however many facts are about it', () => {
    expect(changesBy(started, unknown(false))).toEqual([
      { ...unchanged, status: 'unknown', attempt: 2, started: true },
    ]);
  });

  it('finishes a call with an unknown outcome only when the model is told', () => {
    expect(changesBy(unknown(true))).toEqual([{ ...unchanged, status: 'unknown', finished: true }]);
  });

  it('plans a call again that a person wants to be sent again', () => {
    const resolved = (outcome: 'retry' | 'completed'): NewFact => ({
      type: 'tool.resolved',
      iteration: 1,
      data: { tool_call_id: id, name: 'bash', outcome },
    });
    expect(changesBy(resolved('retry'))).toEqual([{ ...unchanged, status: 'planned' }]);
    expect(changesBy(resolved('completed'))).toEqual([]);
  });
});
