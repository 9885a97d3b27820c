import { type Message, compactionId, messageId, runId, threadId } from '@rondo/contract';
import { summaryMessage } from '../compaction/summarize';
import { toHistory } from '../testing/histories';
import { evolve, replay } from './run-state';

const covers = (to: string) => ({ from_message_id: messageId.parse('msg_0'), to_message_id: messageId.parse(to) });

const summary = (id: string, to: string): Message => ({
  ...summaryMessage(
    {
      id: runId.parse('run_0'),
      threadId: threadId.parse('thr_1'),
      settings: { context: { strategy: 'summary' } },
    },
    {
      id: messageId.parse(id),
      iteration: 1,
      summary: 'So far.',
      covers: covers(to),
      parentId: undefined,
      tokenCount: 3,
    },
  ),
  seq: 1,
  created_at: '2026-01-01T00:00:00.000Z',
});

const history = toHistory(Array.from({ length: 4 }, () => ({ kind: 'user', text: 'word' })));

describe('the context of a run', () => {
  it('starts from the latest summary of earlier runs', () => {
    const state = replay([], [...history, summary('msg_s1', 'msg_1'), summary('msg_s2', 'msg_2')]);

    expect(state.context.summary).toEqual({ id: 'msg_s2', covers: covers('msg_2') });
  });

  it('ignores a summary that does not name what it covers', () => {
    const [first] = history;
    const state = replay([], [...history, { ...(first as Message), type: 'summary' }]);

    expect(state.context.summary).toBeUndefined();
  });

  it('counts failures until a summary succeeds', () => {
    const id = compactionId.parse('cmp_1');
    const error = { code: 'any', message: 'Any.' };
    const failed = evolve(replay([], history), {
      type: 'context.compaction_failed',
      iteration: 0,
      data: { compaction_id: id, error },
    });
    const done = evolve(failed, {
      type: 'context.compacted',
      iteration: 0,
      data: {
        method: 'summary',
        compaction_id: id,
        message_id: messageId.parse('msg_s1'),
        covers: covers('msg_1'),
        tokens_before: 2,
        tokens_after: 1,
      },
    });

    expect([failed.context.failures, done.context.failures]).toEqual([1, 0]);
  });
});
