import fc from 'fast-check';
import { type Message, runId, threadId } from '@rondo/contract';
import { ContextMeter } from '../context/context-meter';
import { effectiveSettings } from '../profiles/effective-settings';
import { toPrompt } from '../prompt/prompt';
import { countRequestTokens } from '../prompt/prompt';
import { evolve, replay } from '../run/run-state';
import { EvenTokenCounter } from '../testing';
import { anyHistory } from '../testing/histories';
import { requestViolations } from '../testing/request-violations';
import { tools } from '../tools/catalog';
import { toToolSet } from '../tools/tool-set';
import { compress } from './compress';

const effective = effectiveSettings({}, { model: 'demo/coder' });
if ('problems' in effective) throw new Error('the defaults are valid');
const { settings } = effective;

const createPosition = (conversation: readonly Message[]) => {
  const state = replay([], conversation);
  const run = {
    id: runId.parse('run_1'),
    threadId: threadId.parse('thr_1'),
    settings,
    tools: toToolSet(settings, tools),
    createdAt: '2026-01-01',
    state,
  };
  return { run, state };
};

/** Enough for the newest user message of every history, and for the rest once it is shortened. */
const spaceTokens = 6_000;

it('reaches its target with any history, as a valid request with the newest user message, again and again (I6, I13)', async () => {
  await fc.assert(
    fc.asyncProperty(anyHistory(40), fc.integer({ min: 0, max: 20_000 }), async (history, more) => {
      const meter = new ContextMeter(new EvenTokenCounter(), settings.model);
      let position = createPosition(history);
      const empty = await countRequestTokens(createPosition([]), meter);
      for (const target of [empty + spaceTokens + more, empty + spaceTokens]) {
        const tokensBefore = await countRequestTokens(position, meter);
        if (tokensBefore <= target) continue;
        const goal = { reason: 'threshold', tokensBefore, target, acceptable: target, maximum: target } as const;
        const data = await compress(position, meter, goal);
        if (!data) throw new Error('what is too long was not compressed');
        const state = evolve(position.state, { type: 'context.compacted', iteration: 1, data });
        position = { run: position.run, state };

        expect(await countRequestTokens(position, meter)).toBe(data.tokens_after);
        expect(data.tokens_after).toBeLessThanOrEqual(target);
        const { messages } = toPrompt(position).prompt;
        expect(requestViolations(messages)).toEqual([]);
        const newest = history.findLast(({ type }) => type === 'user')?.content[0];
        expect(JSON.stringify(messages)).toContain(JSON.stringify(newest));
      }
    }),
    { numRuns: 150 },
  );
});

it('omits no messages where shorter texts suffice', async () => {
  await fc.assert(
    fc.asyncProperty(anyHistory(12), async (history) => {
      const meter = new ContextMeter(new EvenTokenCounter(), settings.model);
      const position = createPosition(history);
      const tokensBefore = await countRequestTokens(position, meter);
      const target = Math.floor(tokensBefore * 0.95);
      const data = await compress(position, meter, {
        reason: 'threshold',
        tokensBefore,
        target,
        acceptable: target,
        maximum: 0,
      });

      if (data && data.tokens_after <= target && data.keep_characters > 768) expect(data.omitted).toBeUndefined();
    }),
  );
});
