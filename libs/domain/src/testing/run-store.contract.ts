import { ClaimLostError, StopPendingError } from '../errors';
import { type MessageId, type RunId, messageId } from '../ids';
import type { NewFact } from '../run-event';
import type { RunStore } from '../run-store';

/** A store with one run in it that is due, and what the gateway and time may do to that run. */
export interface RunStoreHouse {
  readonly store: RunStore;
  readonly runId: RunId;
  expireLease(): Promise<void>;
  requestStop(): Promise<void>;
}

/** What every RunStore promises. The fake and the real one pass the same sentences. */
export const describeRunStore = (name: string, open: () => Promise<RunStoreHouse>): void => {
  describe(`${name} keeps a RunStore's promises`, () => {
    const claimed = async () => {
      const house = await open();
      const claim = await house.store.claim(house.runId, 'worker-1');
      if (!claim) throw new Error('a due run could not be claimed');
      return { ...house, claim };
    };

    it('gives a due run to one holder at a time, each with a higher epoch (I3)', async () => {
      const { store, runId, claim, expireLease } = await claimed();

      expect(await store.claim(runId, 'worker-2')).toBeUndefined();
      await expireLease();
      const second = await store.claim(runId, 'worker-2');

      expect(second?.epoch).toBeGreaterThan(claim.epoch);
    });

    it('numbers facts without a gap and gives them back in that order (I2)', async () => {
      const { store, runId, claim } = await claimed();

      await store.append(claim, [started, iterationStarted(1)]);
      await store.append(claim, [iterationCompleted(1)]);
      await store.handOver(claim);
      const next = await store.claim(runId, 'worker-2');

      expect(next?.log.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5]);
      expect(next?.log.map(({ type }) => type)).toEqual([
        'run.created',
        'message.created',
        'run.started',
        'iteration.started',
        'iteration.completed',
      ]);
    });

    it('refuses every write of an older holder and keeps nothing of it (I3)', async () => {
      const { store, runId, claim, expireLease } = await claimed();
      await expireLease();
      const second = await store.claim(runId, 'worker-2');
      if (!second) throw new Error('the run could not be claimed again');

      await expect(store.append(claim, [started])).rejects.toBeInstanceOf(ClaimLostError);
      const [first] = await store.append(second, [started]);

      expect(first?.seq).toBe(3);
    });

    it('lets a run end once, and nothing after it (I2)', async () => {
      const { store, runId, claim } = await claimed();

      await store.append(claim, [started, completed]);

      await expect(store.append(claim, [iterationStarted(1)])).rejects.toBeInstanceOf(ClaimLostError);
      expect(await store.claim(runId, 'worker-2')).toBeUndefined();
    });

    it('does not let a run that was told to stop end otherwise (I7)', async () => {
      const { store, claim, requestStop } = await claimed();
      await store.append(claim, [started]);
      await requestStop();

      await expect(store.append(claim, [completed])).rejects.toBeInstanceOf(StopPendingError);
      const recorded = await store.append(claim, [stopped]);

      expect(recorded.map(({ type }) => type)).toEqual(['run.stopped']);
    });

    it('gives messages their place in the thread', async () => {
      const { store, claim } = await claimed();

      const recorded = await store.append(claim, [started, spoken(claim, 'msg_a'), spoken(claim, 'msg_b')]);

      const places = recorded.flatMap((fact) => (fact.type === 'message.created' ? [fact.data.message.seq] : []));
      expect(places).toEqual([2, 3]);
    });

    it('can be claimed again at once after a hand-over', async () => {
      const { store, runId, claim } = await claimed();

      await store.handOver(claim);

      expect(await store.claim(runId, 'worker-2')).toBeDefined();
    });
  });
};

const usage = { input_tokens: 0, cached_tokens: 0, output_tokens: 0, cost_usd: 0 };
const started: NewFact = { type: 'run.started', iteration: 0, data: {} };
const completed: NewFact = { type: 'run.completed', iteration: 0, data: { finish_reason: 'stop', usage } };
const stopped: NewFact = {
  type: 'run.stopped',
  iteration: 0,
  data: {
    reason: null,
    receipt: {
      requested_at: '2026-01-01T00:00:00.000Z',
      model_aborted_at: null,
      tools_stopped: [],
      tokens_after_stop: 0,
    },
    usage,
  },
};

const iterationStarted = (iteration: number): NewFact => ({
  type: 'iteration.started',
  iteration,
  data: { iteration, message_id: messageId.parse(`msg_${iteration}`) },
});

const iterationCompleted = (iteration: number): NewFact => ({
  type: 'iteration.completed',
  iteration,
  data: { iteration, finish_reason: 'stop' },
});

const spoken = ({ threadId, runId }: { threadId: string; runId: string }, id: string): NewFact =>
  ({
    type: 'message.created',
    iteration: 1,
    data: {
      message: {
        id: id as MessageId, // a literal with the right prefix
        thread_id: threadId,
        run_id: runId,
        iteration: 1,
        type: 'assistant',
        is_llm_message: true,
        content: [{ type: 'text', text: 'Said.' }],
        metadata: {},
      },
    },
  }) as NewFact; // ids come from the claim, whose brands the parameter drops
