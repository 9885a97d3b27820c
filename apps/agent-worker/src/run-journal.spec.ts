import {
  type NewFact,
  type StopRequest,
  compactionId,
  effectiveSettings,
  eventId,
  messageId,
  runId,
  threadId,
} from '@rondo/domain';
import { InMemoryRunStore } from '@rondo/domain/testing';
import { RunJournal } from './run-journal';

const id = runId.parse('run_1');
const started: NewFact = { type: 'run.started', iteration: 0, data: {} };
const compactionStarted: NewFact = {
  type: 'context.compaction_started',
  iteration: 0,
  data: {
    compaction_id: compactionId.parse('cmp_1'),
    reason: 'threshold',
    covers: { from_message_id: messageId.parse('msg_1'), to_message_id: messageId.parse('msg_2') },
    tokens_before: 9_000,
  },
};

async function openJournal(stop?: StopRequest) {
  const store = new InMemoryRunStore();
  const effective = effectiveSettings({}, { model: 'demo/coder' });
  if ('problems' in effective) throw new Error('the defaults are valid');
  store.create({ id, threadId: threadId.parse('thr_1'), settings: effective.settings, input: 'Go.' });
  const claim = await store.claim(id, 'worker');
  if (!claim) throw new Error('the run was due');
  if (stop) store.requestStop(id, stop);

  const settings = { frameMs: 5, newEventId: () => eventId.parse('evt_1'), now: () => new Date(0).toISOString() };
  return { store, journal: new RunJournal(claim, { store, feed: { publish: () => undefined }, settings }) };
}

describe('RunJournal', () => {
  it('is at its end when the run waits for a summary', async () => {
    const { journal, store } = await openJournal();

    await journal.write({ facts: [started, compactionStarted], hold: false });

    expect(journal.claimEnded).toBe('parked');
    expect(await store.compactions.claim(id, 'scribe')).toBeDefined();
  });

  it('keeps what was said when a stop forbids to wait for a summary (I7)', async () => {
    const { journal, store } = await openJournal({ requestedAt: '2026-01-01T00:00:00.000Z', reason: null });

    await expect(journal.write({ facts: [started, compactionStarted], hold: false })).rejects.toThrow('told to stop');

    expect(journal.claimEnded).toBeUndefined();
    expect(store.log(id).at(-1)?.type).toBe('run.started');
  });
});
