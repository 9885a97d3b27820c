import fc from 'fast-check';
import { type Message, runId, threadId } from '@rondo/contract';
import { effectiveSettings } from '../profiles/effective-settings';
import { promptOf } from '../loop/prompt';
import { evolve, replay } from '../run/run-state';
import { EvenTokenCounter } from '../testing';
import { anyHistory } from '../testing/histories';
import { requestViolations } from '../testing/request-violations';
import { compress, countRequestTokens } from './compress';
import { ContextMeter } from './context-meter';

const effective = effectiveSettings({}, { model: 'demo/coder' });
if ('problems' in effective) throw new Error('the defaults are valid');
const { settings } = effective;

const standingAt = (conversation: readonly Message[]) => {
  const state = replay([], conversation);
  const run = { id: runId.parse('run_1'), threadId: threadId.parse('thr_1'), settings, createdAt: '2026-01-01', state };
  return { run, state };
};

/** The newest words of the user fit into it in every history, and so does the rest once it is cut. */
const roomTokens = 6_000;

it('reaches its target with any history, validly, with the newest words of the user, and does not undo itself (I6, I13)', async () => {
  await fc.assert(
    fc.asyncProperty(anyHistory(40), fc.integer({ min: 0, max: 20_000 }), async (history, more) => {
      const meter = new ContextMeter(new EvenTokenCounter(), settings.model);
      let standing = standingAt(history);
      const empty = await countRequestTokens(standingAt([]), meter);
      for (const target of [empty + roomTokens + more, empty + roomTokens]) {
        const tokensBefore = await countRequestTokens(standing, meter);
        if (tokensBefore <= target) continue;
        const squeeze = { reason: 'threshold', tokensBefore, target, most: target, budget: target } as const;
        const data = await compress(standing, meter, squeeze);
        if (!data) throw new Error('what is too long was not compressed');
        const state = evolve(standing.state, { type: 'context.compacted', iteration: 1, data });
        standing = { run: standing.run, state };

        expect(await countRequestTokens(standing, meter)).toBe(data.tokens_after);
        expect(data.tokens_after).toBeLessThanOrEqual(target);
        const { messages } = promptOf(standing).prompt;
        expect(requestViolations(messages)).toEqual([]);
        const newest = history.findLast(({ type }) => type === 'user')?.content[0];
        expect(JSON.stringify(messages)).toContain(JSON.stringify(newest));
      }
    }),
    { numRuns: 150 },
  );
});

it('prefers the gentlest way: nothing is left out while shorter texts will do', async () => {
  await fc.assert(
    fc.asyncProperty(anyHistory(12), async (history) => {
      const meter = new ContextMeter(new EvenTokenCounter(), settings.model);
      const standing = standingAt(history);
      const tokensBefore = await countRequestTokens(standing, meter);
      const target = Math.floor(tokensBefore * 0.95);
      const data = await compress(standing, meter, {
        reason: 'threshold',
        tokensBefore,
        target,
        most: target,
        budget: 0,
      });

      if (data && data.tokens_after <= target && data.keep_characters > 768) expect(data.omitted).toBeUndefined();
    }),
  );
});
