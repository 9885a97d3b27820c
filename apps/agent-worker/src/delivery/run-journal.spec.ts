import {
  type Delta,
  type NewFact,
  type RunEvent,
  callId,
  compactionId,
  eventId,
  messageId,
  runId,
  threadId,
} from '@rondo/contract';
import { ClaimLostError, type StopRequest, effectiveSettings } from '@rondo/domain';
import { InMemoryRunStore, plannedCall } from '@rondo/domain/testing';
import { RunJournal } from './run-journal';

const id = runId.parse('run_1');
const started: NewFact = { type: 'run.started', iteration: 0, data: {} };
const resumed: NewFact = { type: 'run.resumed', iteration: 0, data: { reason: 'input' } };
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
const planned: NewFact = {
  type: 'tool.planned',
  iteration: 1,
  data: { tool_call: plannedCall({ run_id: id, name: 'list_commands', arguments: {}, effect_class: 'pure' }) },
};
const callStarted: NewFact = {
  type: 'tool.started',
  iteration: 1,
  data: { tool_call_id: callId.parse('call_1'), name: 'list_commands', attempt: 1, store: null },
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
  const shown: string[] = [];
  const feed = { publish: (events: readonly RunEvent[]) => shown.push(...events.map(({ type }) => type)) };
  const failures: Error[] = [];
  const journal = new RunJournal(claim, { store, feed, settings, failed: (error) => failures.push(error) });
  return { store, claim, shown, failures, journal };
}

/** Lets nothing be written until it is told to go on. */
function holdUp(store: InMemoryRunStore): () => void {
  let goOn = (): void => undefined;
  const gate = new Promise<void>((resolve) => (goOn = resolve));
  const append = store.append.bind(store);
  store.append = (...given) => gate.then(() => append(...given));
  return goOn;
}

/** The types of what is written, which is kept nowhere. */
function noteWrites(store: InMemoryRunStore): readonly string[] {
  const written: string[] = [];
  store.append = (_, facts) => {
    written.push(...facts.map(({ type }) => type));
    return Promise.resolve([]);
  };
  return written;
}

const word = (text: string): Delta => ({ type: 'message.delta', streamId: 'msg_1', text });

/** What follows without any time passing. */
async function microtasks(): Promise<void> {
  for (let rest = 20; rest > 0; rest -= 1) await Promise.resolve();
}

afterEach(() => jest.restoreAllMocks());

describe('RunJournal', () => {
  it('is at its end when the run waits for a summary', async () => {
    const { journal, store } = await openJournal();

    await journal.write({ facts: [started, compactionStarted], hold: false });

    expect(journal.claimEnded).toBe('parked');
    expect(await store.compactions.claim(id, 'summarizer')).toBeDefined();
  });

  it('keeps what was said when a stop forbids to wait for a summary (I7)', async () => {
    const { journal, store } = await openJournal({ requestedAt: '2026-01-01T00:00:00.000Z', reason: null });

    await expect(journal.write({ facts: [started, compactionStarted], hold: false })).rejects.toThrow('told to stop');

    expect(journal.claimEnded).toBeUndefined();
    expect(store.log(id).at(-1)?.type).toBe('run.started');
  });

  it('shows what is said while facts are written after them, and before the next facts', async () => {
    const { journal, store, shown } = await openJournal();
    const goOn = holdUp(store);

    await journal.write({ facts: [started], hold: false, meanwhile: true });
    journal.publishDelta(word('Hel'));
    journal.publishDelta(word('lo'));
    expect(shown).toEqual([]);
    goOn();
    await journal.write({ facts: [resumed], hold: false });

    expect(shown).toEqual(['run.started', 'message.delta', 'message.delta', 'run.resumed']);
    expect(
      store
        .log(id)
        .slice(-2)
        .map(({ type }) => type),
    ).toEqual(['run.started', 'run.resumed']);
  });

  it('lets words leave before it writes how their reply ended, but keeps no call waiting', async () => {
    const { journal, store, shown } = await openJournal();
    const written = noteWrites(store);
    jest.spyOn(performance, 'now').mockReturnValue(0); // no machine is too slow for it

    journal.publishDelta(word('Let me see.'));
    const callIsWritten = journal.write({ facts: [planned], hold: false });
    await microtasks();
    expect([shown, written]).toEqual([['message.delta'], ['tool.planned']]);
    await callIsWritten;

    journal.publishDelta(word('All is well.'));
    const endIsWritten = journal.write({ facts: [started], hold: false });
    await microtasks();
    expect(written).toEqual(['tool.planned']);
    await endIsWritten;
    expect(written).toEqual(['tool.planned', 'run.started']);
  });

  it('keeps no call waiting that the loop planned a step before it starts it', async () => {
    const { journal, store } = await openJournal();
    const written = noteWrites(store);
    jest.spyOn(performance, 'now').mockReturnValue(0);

    journal.publishDelta(word('Let me see.'));
    await journal.write({ facts: [planned], hold: true });
    const callIsWritten = journal.write({ facts: [callStarted], hold: false });
    await microtasks();
    expect(written).toEqual(['tool.planned', 'tool.started']);
    await callIsWritten;
  });

  it('shows and writes nothing after a write that failed while the run went on (I3)', async () => {
    const { journal, store, claim, shown, failures } = await openJournal();
    await store.handOver(claim);
    await store.claim(id, 'another worker');

    await journal.write({ facts: [started], hold: false, meanwhile: true });
    journal.publishDelta(word('Hello'));

    await expect(journal.write({ facts: [resumed], hold: false })).rejects.toThrow(ClaimLostError);
    journal.publishDelta(word('?'));
    expect(failures).toEqual([expect.any(ClaimLostError)]);
    expect(shown).toEqual([]);
    expect(store.log(id).map(({ type }) => type)).not.toContain('run.resumed');
  });
});
