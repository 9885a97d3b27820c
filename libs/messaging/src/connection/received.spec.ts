import fc from 'fast-check';
import { RecordedLog } from '../testing/test-nats';
import { toolReply } from '../tool-calls/wire-format';
import { readReceived } from './received';

describe('received', () => {
  it('returns the content of a message that matches the schema', () => {
    const replies = fc.oneof(
      fc.record({ how: fc.constant('unknown'), reason: fc.string() }),
      fc.record({ how: fc.constant('stopped'), verified_dead_at: fc.constant(null) }),
    );
    fc.assert(
      fc.property(replies, (reply) => {
        const log = new RecordedLog();
        expect(readReceived(toolReply, { subject: 'x', string: () => JSON.stringify(reply) }, log)).toEqual(reply);
        expect(log.lines).toEqual([]);
      }),
    );
  });

  it('drops any other message with one log line, and never throws', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        const log = new RecordedLog();
        expect(readReceived(toolReply, { subject: 'x', string: () => text }, log)).toBeUndefined();
        expect(log.lines).toEqual(['malformed message dropped']);
      }),
    );
  });
});
