import { tokensBelow } from '../context/context-budget';
import { compactionFailed } from '../compaction/compaction-failed';
import { compress, countRequestTokens } from '../context/compress';
import {
  type ContextUsage,
  isFarFromLimit,
  isFresh,
  contextUsageOf,
  rangeToSummarize,
} from '../compaction/compaction-need';
import { failed } from './decide';
import { type LoopContext, type Step, factsStep } from './loop-context';
import type { RunError } from '@rondo/contract';

/**
 * Sees to it that the next request fits its model (I13), once it is decided that there will be one.
 *
 * Over its threshold, the run's strategy names a stretch of the conversation to fold. The run then leaves its worker for
 * the summarizer, and comes back with a summary or with the news that there is none. Where nothing can be folded, texts
 * are shortened without anybody's help: no run depends on its summarizer (R36). Each is tried once an iteration at most.
 *
 * `over`: the loop leaves the run, to the summarizer or because it failed.
 */
export async function* compactIfNeeded(pass: LoopContext): AsyncGenerator<Step, { over: boolean }> {
  if (pass.signals.stop.aborted) return { over: false };
  if (pass.state.compaction) yield factsStep(pass, ...compactionFailed(pass.state, silent));

  if (isFarFromLimit(pass)) {
    pass.meter.forgetLast();
    return { over: false };
  }

  const load = await contextUsageOf(pass);
  const fold = await rangeToSummarize(pass, load);
  if (!fold) return yield* shorten(pass, load);

  const { covers, reason } = fold;
  const data = {
    compaction_id: pass.ports.clerk.compactionId(),
    reason,
    covers,
    tokens_before: load.tokens,
  };
  yield factsStep(pass, { type: 'context.compaction_started', iteration: pass.state.iteration, data });
  return { over: true };
}

/** Said by the worker that gets a run back which no summarizer took in time. */
const silent: RunError = { code: 'summarizer_silent', message: 'No summarizer took the run in time.' };

/** Room is made for more than the next reply, so that the prefix that providers cache lasts for a while. */
const fillTo = 0.7;

async function* shorten(
  pass: LoopContext,
  { tokens, allowance }: ContextUsage,
): AsyncGenerator<Step, { over: boolean }> {
  const { budget, reserve, limit, frame } = allowance;
  const isDone = !isFresh(pass.state) && pass.state.context.failures === 0;
  const most = isDone ? budget : limit;
  if (tokens + reserve < most) return { over: false };

  const target = frame + Math.floor(tokensBelow(most, allowance) * fillTo);
  const squeeze = { reason: 'threshold', tokensBefore: tokens, target, most: most - reserve, budget } as const;
  const data = await compress(pass, pass.meter, squeeze);
  if (data) yield factsStep(pass, { type: 'context.compacted', iteration: pass.state.iteration, data });
  if ((await countRequestTokens(pass, pass.meter)) <= budget) return { over: false };

  yield factsStep(pass, failed(pass, tooLarge(budget)));
  return { over: true };
}

const tooLarge = (budget: number): RunError => ({
  code: 'context_too_large',
  message: `The system prompt, the tools and the newest message do not fit into the ${budget} tokens that the model may be sent.`,
});
