import type { RunError } from '@rondo/contract';
import {
  type ContextUsage,
  readContextUsage,
  isFarFromLimit,
  mayCompact,
  rangeToSummarize,
} from '../compaction/compaction-trigger';
import { compress } from '../compaction/compress';
import { compactionFailed } from '../compaction/summarize';
import { tokensBelow } from '../context/context-budget';
import { type LoopContext, type Step, factsStep, toFactsStep } from '../loop-context';
import { countRequestTokens } from '../prompt/prompt';
import { withdrawUnstored, readMessages, withMessages } from './begin-reply';
import { toFailed } from './end-run';

/**
 * Makes the next request fit its model (I13).
 *
 * Over the threshold, the run's strategy chooses a range of the conversation to summarize. The worker then releases the
 * run to the summarizer, which returns it with a summary or with a failure. If nothing can be summarized, texts are
 * shortened without a model, so that no run depends on the summarizer. Each is tried at most once per iteration. Messages that
 * the run is about to read count too: where they may not fit, it reads them first.
 *
 * `done`: the loop leaves the run, because it goes to the summarizer or has failed.
 */
export async function* compactIfNeeded(loop: LoopContext): AsyncGenerator<Step, { done: boolean }> {
  if (loop.signals.stop.aborted) return { done: false };
  if (loop.state.compaction) yield factsStep(loop, ...compactionFailed(loop.state, summarizerSilent));

  const messages = readMessages(loop);
  if (messages.length > 0 && !isFarFromLimit(withMessages(loop, messages))) {
    yield toFactsStep(loop, messages, { hold: true });
    loop.unread = [];
  }

  if (isFarFromLimit(loop)) {
    loop.meter.forgetLast();
    return { done: false };
  }

  const usage = await readContextUsage(loop);
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
  return { done: true };
}

/** Recorded by the worker that claims the run after no summarizer claimed it in time. */
const summarizerSilent: RunError = { code: 'summarizer_silent', message: 'No summarizer claimed the run in time.' };

/** Compresses well below the limit, so that the prefix that providers cache lasts for several iterations. */
const targetShare = 0.7;

async function* shorten(loop: LoopContext, { tokens, budget }: ContextUsage): AsyncGenerator<Step, { done: boolean }> {
  const { maximum, reserve, limit, frame } = budget;
  const isSummarized = !mayCompact(loop.state) && loop.state.context.failures === 0;
  const ceiling = isSummarized ? maximum : limit;
  if (tokens + reserve < ceiling) return { done: false };

  const target = frame + Math.floor(tokensBelow(ceiling, budget) * targetShare);
  const goal = { reason: 'threshold', tokensBefore: tokens, target, acceptable: ceiling - reserve, maximum } as const;
  const data = await compress(loop, loop.meter, goal);
  if (data) yield factsStep(loop, { type: 'context.compacted', iteration: loop.state.iteration, data });
  if ((await countRequestTokens(loop, loop.meter)) <= maximum) return { done: false };

  yield factsStep(loop, ...withdrawUnstored(loop), toFailed(loop, tooLarge(maximum)));
  return { done: true };
}

const tooLarge = (maximum: number): RunError => ({
  code: 'context_too_large',
  message: `The system prompt, the tools and the newest message do not fit into the ${maximum} tokens that the model may be sent.`,
});
