import { type MessageId, type NewFact, type RunId, compactionId, toFailure, messageId } from '@rondo/contract';
import { ClaimLostError, StopPendingError } from '../errors';
import type { RunStore } from '../ports';
import { stoppedWithError } from '../run/claim';

/** A store with one due run, and what the gateway or an expired lease may do to that run. */
export interface RunStoreFixture {
  readonly store: RunStore;
  /** The same runs, as the summarizers see them. */
  readonly compactions: RunStore;
  readonly runId: RunId;
  expireLease(): Promise<void>;
  requestStop(): Promise<void>;
}

/** What every RunStore guarantees. The in-memory store and the Postgres store pass the same tests. */
export const describeRunStore = (name: string, open: () => Promise<RunStoreFixture>): void => {
  describe(`${name} as a RunStore`, () => {
    const claimed = async () => {
      const fixture = await open();
      const claim = await fixture.store.claim(fixture.runId, 'worker-1');
      if (!claim) throw new Error('a due run could not be claimed');
      return { ...fixture, claim };
    };

    it('gives a due run to one holder at a time, with a rising epoch (I3)', async () => {
      const { store, runId, claim, expireLease } = await claimed();

      expect(await store.claim(runId, 'worker-2')).toBeUndefined();
      await expireLease();
      const second = await store.claim(runId, 'worker-2');

      expect(second?.epoch).toBeGreaterThan(claim.epoch);
    });

    it('numbers facts without a gap and returns them in that order (I2)', async () => {
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

    it('tells later holders which tool set the run started with', async () => {
      const { store, runId, claim } = await claimed();
      const start: NewFact = { type: 'run.started', iteration: 0, data: { tool_set: 'a'.repeat(64) } };

      expect(claim.toolSet).toBeNull();
      await store.append(claim, [start, iterationStarted(1)]);
      await store.append(claim, [iterationCompleted(1)]);
      await store.handOver(claim);

      const next = await store.claim(runId, 'worker-2');
      expect(next?.toolSet).toBe('a'.repeat(64));
      expect(next?.log[2]).toMatchObject(start);
    });

    it('refuses every write of an older holder and stores nothing of it (I3)', async () => {
      const { store, runId, claim, expireLease } = await claimed();
      await expireLease();
      const second = await store.claim(runId, 'worker-2');
      if (!second) throw new Error('the run could not be claimed again');

      await expect(store.append(claim, [started])).rejects.toBeInstanceOf(ClaimLostError);
      const [first] = await store.append(second, [started]);

      expect(first?.seq).toBe(3);
    });

    it('lets a run end once and accepts no facts after that (I2)', async () => {
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

    it('lets a run that was told to stop with an error end as failed, and by no other failure (I7)', async () => {
      const { store, claim, requestStop } = await claimed();
      await store.append(claim, [started]);
      await requestStop();

      await expect(store.append(claim, [failedWith('model_no_reply')])).rejects.toBeInstanceOf(StopPendingError);
      const recorded = await store.append(claim, [failedWith(stoppedWithError)]);

      expect(recorded.map(({ type }) => type)).toEqual(['run.failed']);
    });

    it('numbers the messages of a thread', async () => {
      const { store, claim } = await claimed();

      const recorded = await store.append(claim, [
        started,
        assistantMessage(claim, 'msg_a'),
        assistantMessage(claim, 'msg_b'),
      ]);

      const numbers = recorded.flatMap((fact) => (fact.type === 'message.created' ? [fact.data.message.seq] : []));
      expect(numbers).toEqual([2, 3]);
    });

    it('moves a run to the summarizers when a compaction starts, and back when it ends', async () => {
      const { store, compactions, runId, claim } = await claimed();
      expect(await compactions.claim(runId, 'summarizer-1')).toBeUndefined();

      await store.append(claim, [started, compactionStarted]);
      expect(await store.claim(runId, 'worker-2')).toBeUndefined();
      const summarizer = await compactions.claim(runId, 'summarizer-1');
      if (!summarizer) throw new Error('the summarizer could not claim the run');
      await compactions.append(summarizer, [summarized]);

      expect(await compactions.claim(runId, 'summarizer-1')).toBeUndefined();
      expect((await store.claim(runId, 'worker-2'))?.epoch).toBe(summarizer.epoch + 1);
    });

    it('keeps the claim of a worker that records a failed compaction, and ends that of a summarizer', async () => {
      const { store, compactions, runId, claim } = await claimed();

      await store.append(claim, [started, compactionFailed]);
      expect(await store.claim(runId, 'worker-2')).toBeUndefined();
      await store.append(claim, [compressed, compactionFailed, compactionStarted]);
      const summarizer = await compactions.claim(runId, 'summarizer-1');
      if (!summarizer) throw new Error('the summarizer could not claim the run');
      await compactions.append(summarizer, [compactionFailed]);

      expect(await store.claim(runId, 'worker-2')).toBeDefined();
    });

    it('does not let a run that was told to stop wait for a summary (I7)', async () => {
      const { store, claim, requestStop } = await claimed();
      await requestStop();

      await expect(store.append(claim, [compactionStarted])).rejects.toBeInstanceOf(StopPendingError);
    });

    it('counts claims without progress, except for clean hand-overs', async () => {
      const { store, runId, claim, expireLease } = await claimed();
      const again = async () => {
        const next = await store.claim(runId, 'worker-2');
        if (!next) throw new Error('the run could not be claimed again');
        return next;
      };

      await store.append(claim, [started]);
      await expireLease();
      const second = await again();
      await store.handOver(second, { broke: true });
      const third = await again();
      await store.handOver(third);
      const fourth = await again();
      await store.append(fourth, [iterationStarted(1)]);
      await expireLease();
      const fifth = await again();

      const counted = [claim, second, third, fourth, fifth].map(({ fruitlessClaims }) => fruitlessClaims);
      expect(counted).toEqual([0, 1, 2, 2, 0]);
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
const failedWith = (code: string): NewFact => ({
  type: 'run.failed',
  iteration: 0,
  data: { error: toFailure({ code, message: 'It failed.' }), usage },
});
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
      sandbox_verified_at: null,
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

const covers = { from_message_id: messageId.parse('msg_1'), to_message_id: messageId.parse('msg_2') };
const compaction_id = compactionId.parse('cmp_1');

const compactionStarted: NewFact = {
  type: 'context.compaction_started',
  iteration: 0,
  data: { compaction_id, reason: 'threshold', covers, tokens_before: 9_000 },
};

const summarized: NewFact = {
  type: 'context.compacted',
  iteration: 0,
  data: {
    method: 'summary',
    compaction_id,
    message_id: messageId.parse('msg_summary'),
    covers,
    tokens_before: 9_000,
    tokens_after: 900,
  },
};

const compressed: NewFact = {
  type: 'context.compacted',
  iteration: 0,
  data: {
    method: 'compression',
    reason: 'overflow',
    through_message_id: covers.to_message_id,
    keep_characters: 100,
    tokens_before: 9_000,
    tokens_after: 900,
  },
};

const compactionFailed: NewFact = {
  type: 'context.compaction_failed',
  iteration: 0,
  data: { compaction_id, error: { code: 'model_overloaded', message: 'Not now.' } },
};

const assistantMessage = ({ threadId, runId }: { threadId: string; runId: string }, id: string): NewFact =>
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
        content: [{ type: 'text', text: 'Hello.' }],
        metadata: {},
      },
    },
  }) as NewFact; // ids come from the claim, whose brands the parameter drops
