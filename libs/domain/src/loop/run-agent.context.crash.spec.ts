import fc from 'fast-check';
import { type SettingsRequest, threadId } from '@rondo/contract';
import { toPrompt } from '../prompt/prompt';
import { LedgeredTools, RunHarness, says } from '../testing';
import { AnsweringModel, readsFiles, remembers, tokensOfRequest } from '../testing/answering-model';
import { requestViolations } from '../testing/request-violations';
import { tools } from '../tools/catalog';
import { toToolSet } from '../tools/tool-set';

const budget = 12_000;
const task = 'Read everything.';

interface Fate {
  readonly strategy: 'summary' | 'head_tail' | 'none';
  readonly threshold: number;
  readonly maxTurns: number;
  readonly lines: number;
  readonly summarizer: 'useful' | 'useless' | 'away';
  readonly crashes: readonly { step: number; position: 'before' | 'after' }[];
  readonly stopAt: number | undefined;
}

const anyFate: fc.Arbitrary<Fate> = fc.record({
  strategy: fc.constantFrom('summary', 'head_tail', 'none'),
  threshold: fc.integer({ min: 1_000, max: 12_000 }),
  maxTurns: fc.integer({ min: 3, max: 40 }),
  lines: fc.integer({ min: 1, max: 200 }),
  summarizer: fc.constantFrom('useful', 'useless', 'away'),
  crashes: fc.array(
    fc.record({ step: fc.nat({ max: 60 }), position: fc.constantFrom('before' as const, 'after' as const) }),
    { maxLength: 4 },
  ),
  stopAt: fc.option(fc.nat({ max: 150 }), { nil: undefined }),
});

const files = 25;

function createHarness({ strategy, threshold, maxTurns, lines, summarizer }: Fate) {
  const model = readsFiles(files);
  const settings: SettingsRequest = {
    context: {
      strategy,
      token_threshold: threshold,
      max_turns: maxTurns,
      input_budget_tokens: budget,
      reserve_tokens: 1_000,
    },
  };
  const harness = new RunHarness({
    model,
    settings,
    input: task,
    tools: new LedgeredTools(() => 'A line of a long file.\n'.repeat(lines)),
    ...(summarizer === 'useful' && { summarizer: remembers('line') }),
    ...(summarizer === 'useless' && { summarizer: new AnsweringModel(() => says('')) }),
  });
  return { harness, model };
}

it('ends with valid requests only, whatever its workers, its summarizer and its user do (I6, I13)', async () => {
  await fc.assert(
    fc.asyncProperty(anyFate, async (fate) => {
      const { harness, model } = createHarness(fate);
      for (const crash of fate.crashes) await harness.crashAt(crash);
      let steps = 0;
      const stop = { requestedAt: '2026-01-01T00:00:00.000Z', reason: null };
      while (
        await harness.activate((_, position) => {
          if (position === 'before' && steps++ === fate.stopAt) harness.stop.abort(stop);
        })
      );

      const ends = harness.stop.signal.aborted ? ['run.stopped', 'run.completed'] : ['run.completed'];
      expect(ends).toContain(harness.types.at(-1));
      for (const request of model.requests) {
        expect(requestViolations(request.messages)).toEqual([]);
        expect(tokensOfRequest(request)).toBeLessThanOrEqual(budget);
        expect(JSON.stringify(request.messages)).toContain(task);
      }
      expect(requestViolations(nextRequest(harness))).toEqual([]);
    }),
    { numRuns: 60 },
  );
});

/** The first request of a next run in the thread. */
function nextRequest({ id, settings, state }: RunHarness) {
  const run = {
    id,
    threadId: threadId.parse('thr_1'),
    settings,
    tools: toToolSet(settings, tools),
    createdAt: '2026-01-01',
    state,
  };
  return toPrompt({ run, state }).prompt.messages;
}
