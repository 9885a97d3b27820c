import { tokensBelow } from '../context/context-budget';
import {
  type ContextUsage,
  contextUsageOf,
  isFarFromLimit,
  mayCompact,
  rangeToSummarize,
} from '../compaction/compaction-trigger';
import { compactionFailed } from '../compaction/summarize';
import { compress, countRequestTokens } from '../context/compress';
import { failed } from './decide';
import { type LoopContext, type Step, factsStep } from './loop-context';
import type { RunError } from '@rondo/contract';

/**
 * Makes the next request fit its model (I13), once it is decided that there will be one.
 *
 * Over the threshold, the run's strategy chooses a range of the conversation to summarize. The worker then releases the
 * run to the summarizer, which returns it with a summary or with a failure. Where nothing can be summarized, texts are
 * shortened without a model, so that no run depends on the summarizer. Each is tried at most once per iteration.
 *
 * `over`: the loop ends here, because the run goes to the summarizer or has failed.
 */
export async function* compactIfNeeded(loop: LoopContext): AsyncGenerator<Step, { over: boolean }> {
  if (loop.signals.stop.aborted) return { over: false };
  if (loop.state.compaction) yield factsStep(loop, ...compactionFailed(loop.state, silent));

  if (isFarFromLimit(loop)) {
    loop.meter.forgetLast();
    return { over: false };
  }

  const usage = await contextUsageOf(loop);
  const range = await rangeToSummarize(loop, usage);
  if (!range) return yield* shorten(loop, usage);

  const { covers, reason } = range;
  const data = {
    compaction_id: loop.ports.ids.compactionId(),
    reason,
    covers,
    tokens_before: usage.tokens,
  };
  yield factsStep(loop, { type: 'context.compaction_started', iteration: loop.state.iteration, data });
  return { over: true };
}

/** Recorded by the worker that claims the run after no summarizer claimed it in time. */
const silent: RunError = { code: 'summarizer_silent', message: 'No summarizer took the run in time.' };

/** Compresses well below the limit, so that the prefix that providers cache lasts for several iterations. */
const targetShare = 0.7;

async function* shorten(loop: LoopContext, { tokens, budget }: ContextUsage): AsyncGenerator<Step, { over: boolean }> {
  const { maximum, reserve, limit, frame } = budget;
  const isSummarized = !mayCompact(loop.state) && loop.state.context.failures === 0;
  const allowed = isSummarized ? maximum : limit;
  if (tokens + reserve < allowed) return { over: false };

  const target = frame + Math.floor(tokensBelow(allowed, budget) * targetShare);
  const goal = { reason: 'threshold', tokensBefore: tokens, target, acceptable: allowed - reserve, maximum } as const;
  const data = await compress(loop, loop.meter, goal);
  if (data) yield factsStep(loop, { type: 'context.compacted', iteration: loop.state.iteration, data });
  if ((await countRequestTokens(loop, loop.meter)) <= maximum) return { over: false };

  yield factsStep(loop, failed(loop, tooLarge(maximum)));
  return { over: true };
}

const tooLarge = (maximum: number): RunError => ({
  code: 'context_too_large',
  message: `The system prompt, the tools and the newest message do not fit into the ${maximum} tokens that the model may be sent.`,
});
