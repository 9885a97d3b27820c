import { runId } from '@rondo/contract';
import fc from 'fast-check';
import { parseEvent } from './run-feed';

const run = runId.parse('run_1');
const envelope = { id: 'evt_1', v: 1, run_id: run, thread_id: 'thr_1', iteration: 1, epoch: 1, at: 'now', data: {} };
const fact = { ...envelope, seq: 1, type: 'run.started' };
const delta = { ...envelope, seq: null, type: 'message.delta', stream_id: 'msg_1', offset: 0, after_seq: 3 };

describe('receivedEvent', () => {
  it('returns facts and deltas as they were sent', () => {
    for (const event of [fact, delta]) expect(parseEvent(JSON.stringify(event), run)).toEqual(event);
  });

  it.each([
    ['another run', { ...fact, run_id: 'run_2' }],
    ['another version', { ...fact, v: 2 }],
    ['an unknown type', { ...fact, type: 'run.exploded' }],
    ['a fact without a place in the log', { ...fact, seq: 0 }],
    ['a fact whose seq is no integer', { ...fact, seq: 1.5 }],
    ['a fact without data', { ...fact, data: null }],
    ['a fact as a delta', { ...delta, type: 'run.completed' }],
    ['a delta as a fact', { ...fact, type: 'message.delta' }],
    ['a delta of no stream', { ...delta, stream_id: undefined }],
    ['a delta at no offset', { ...delta, offset: '0' }],
    ['a delta with a negative after_seq', { ...delta, after_seq: -1 }],
  ])('refuses %s', (_, event) => {
    expect(parseEvent(JSON.stringify(event), run)).toBeUndefined();
  });

  it('returns undefined for every other text, and never throws', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        expect(parseEvent(text, run)).toBeUndefined();
      }),
    );
  });
});
