import type { MessageId, NewFact, NewMessage, RunError } from '@rondo/contract';
import {
  type LackingBudget,
  awaitBudget,
  mayWaitFor,
  reserveCall,
  budgetLack,
  mayCallModel,
} from '../budget/run-limits';
import { halve } from '../compaction/compress';
import { toContextBudget } from '../context/context-budget';
import { toInputBudget, wasTooLong } from '../models/model-budgets';
import type { DecodedReply } from '../dialects/dialect';
import { type LoopContext, type ModelPause, type Step, factsStep, toFactsStep } from '../loop-context';
import { fallbackAfter } from '../models/fallbacks';
import type { ModelChunk, ModelEnd, ModelMessage, ModelRequest } from '../models/model';
import { countRequestTokens, toPrompt } from '../prompt/prompt';
import { type RunState, isLastAttempt, waitsLong } from '../run/run-state';
import { usageFactFor } from '../run/usage-fact';
import { beginReply, withdrawUnstored, readMessages, withMessages } from './begin-reply';
import { toCompleted, toFailed, noReply } from './end-run';
import { Reply } from './reply';

/** How a model call ended, and the fact that records its usage. */
interface ModelCallResult {
  readonly end: ModelEnd;
  usage(finishReason: string): NewFact;
}

/**
 * Calls the model and streams its reply, until the reply or the reason for its absence is in the log, or parks the run for its budget. Calls again if the
 * reply is not in the required format, once with a shorter request if the provider refused it as too long, and another model
 * if one stands in for this one's failure.
 */
export async function* think(loop: LoopContext): AsyncGenerator<Step, { isParked: boolean }> {
  let repairTurns: readonly ModelMessage[] = [];
  let repairsLeft = loop.run.settings.processor.json_repair_attempts;
  let mayShrink = true;
  let mayRepairPrinted = true;

  for (;;) {
    const messageId = loop.ports.ids.messageId();
    loop.model = modelNow(loop);
    const messages = readMessages(loop);
    const lack = await budgetLack(withMessages(loop, messages));
    if (lack !== undefined) {
      const awaited = lack !== 'account' && mayWaitFor(lack) ? lack : undefined;
      yield factsStep(loop, ...outOfBudget(loop, messageId, awaited));
      return { isParked: awaited !== undefined };
    }
    const options = messages.length > 0 ? { hold: false } : ({ hold: false, meanwhile: true } as const);
    yield toFactsStep(loop, [...messages, beginReply(loop, messageId)], options);
    const delayMs = loop.pause?.delay_ms;
    loop.pause = undefined;

    const { prompt: request, newDecoder } = toPrompt(loop);
    const { lostReplies } = loop.state;
    const prompt = {
      ...request,
      ...(hasFallback(loop) && { hasFallback: true }),
      ...(waitsLong(loop.state) && { waitsLong: true }),
      ...(lostReplies > 0 && { lostReplies }),
      ...(delayMs !== undefined && { delayMs }),
    };
    const reply = new Reply(loop, messageId, newDecoder);
    const result = yield* callUntilComplete(loop, reply, withTurns(prompt, repairTurns));
    const decoded = yield* reply.end(endsByLength(result) || reply.isTooLong);

    if (yield* fallBack(loop, result, reply)) continue;
    if (mayShrink && (await isTooLong(loop, result, reply))) {
      mayShrink = false;
      if (yield* shrinkRequest(loop, result)) continue;
    }
    const problem = reply.hasBegun ? undefined : formatProblem(result, decoded); // a stored part cannot be replaced
    const isPrinted = problem?.isPrintedCall === true;
    if (problem === undefined || !(isPrinted ? mayRepairPrinted : repairsLeft > 0)) {
      for (const step of conclude(loop, { reply, result, decoded })) yield step;
      return { isParked: false };
    }
    if (isPrinted) mayRepairPrinted = false;
    else repairsLeft -= 1;
    yield factsStep(loop, result.usage('malformed'));
    repairTurns = exchange(reply.written, `${problem.reason} Answer again, in the required form only.`);
  }
}

/** Ends or parks the run, and withdraws what was shown of a reply that will not be completed. */
const outOfBudget = (loop: LoopContext, messageId: MessageId, awaited: LackingBudget | undefined): NewFact[] => [
  ...(loop.state.phase === 'thinking' ? [beginReply(loop, messageId)] : []),
  awaited ? awaitBudget(loop.state.iteration, awaited) : toCompleted(loop, 'budget_exceeded'),
];

/** Calls the model, and again as long as its output limit cuts the reply off. The calls make one reply. */
async function* callUntilComplete(
  loop: LoopContext,
  reply: Reply,
  prompt: ModelRequest,
): AsyncGenerator<Step, ModelCallResult> {
  const maxContinuations = loop.run.settings.processor.native_max_auto_continues;
  let result = yield* callModel(loop, reply, prompt);
  if (loop.model === loop.run.settings.model) loop.meter.calibrate(result.end.usage);

  for (let continued = 0; wasCutOff(result, reply) && maxContinuations > 0; continued++) {
    if (continued === maxContinuations) {
      const text = `\n\n[Agent reached maximum auto-continue limit of ${maxContinuations}]`;
      for (const step of reply.receive({ type: 'text', text })) yield step;
      break;
    }
    if (!(await hasSpaceFor(loop, reply))) break;
    if (!(await mayCallModel(loop, result.end.usage)) || !(await reserveCall(loop, result.end.usage))) {
      loop.isCutOffByBudget = true;
      break;
    }
    yield factsStep(loop, result.usage('continued'));
    const turns = exchange(reply.written, 'Go on exactly where you stopped.');
    for (const step of reply.resume()) yield step;
    result = yield* callModel(loop, reply, withTurns(withoutBeginning(prompt), turns));
  }
  return result;
}

/** Whether the request that continues the reply, and holds it, is still one that the model may be sent (I13). */
async function hasSpaceFor(loop: LoopContext, { written }: Reply): Promise<boolean> {
  const { run, state, ports, meter } = loop;
  const { settings } = run;
  const { resolveBudget, tokens } = ports;
  const { refusedTokens } = state.context;
  const { maximum } = toContextBudget({ settings, resolveBudget, frame: 0, refusedTokens });
  const [more = 0] = await tokens.countTexts([written], loop.model);
  const size = (await countRequestTokens(loop, meter)) + more;
  meter.forgetLast(); // what is sent next is another request
  return size <= maximum;
}

/** The pause was for the first request, and a model that is held to a format would begin it anew. */
function withoutBeginning({ delayMs: _, settings, ...request }: ModelRequest): ModelRequest {
  const { response_format: _format, ...others } = settings;
  return { ...request, settings: others };
}

const wasCutOff = (result: ModelCallResult, reply: Reply): boolean => endsByLength(result) && reply.canContinue;

const endsByLength = ({ end }: ModelCallResult): boolean => end.how === 'finished' && end.finishReason === 'length';

const isTooLong = async (loop: LoopContext, { end }: ModelCallResult, { hasBegun }: Reply): Promise<boolean> =>
  !hasBegun &&
  wasTooLong(end, {
    budgetTokens: toInputBudget(loop.run.settings, loop.ports.resolveBudget),
    countTokens: () => countRequestTokens(loop, loop.meter),
  });

/** Halves the request for the next attempt; false if that is not possible. */
async function* shrinkRequest(loop: LoopContext, result: ModelCallResult): AsyncGenerator<Step, boolean> {
  const data = await halve(loop, loop.meter);
  if (!data) return false;
  const shorter: NewFact = { type: 'context.compacted', iteration: loop.state.iteration, data };
  yield factsStep(loop, result.usage('overflow'), shorter);
  await countRequestTokens(loop, loop.meter);
  return true;
}

const formatProblem = ({ end }: ModelCallResult, { verdict }: DecodedReply) =>
  end.how === 'finished' && verdict?.decision === 'malformed' ? verdict : undefined;

/**
 * Records the reply, its usage, and the end of the run if the model failed for good. A reply that has already sent calls
 * does not end the run: their answers come first, and the next model call will fail again.
 */
function* conclude(
  loop: LoopContext,
  { reply, result, decoded }: { reply: Reply; result: ModelCallResult; decoded: DecodedReply },
): Generator<Step, void> {
  const { end } = result;
  if (end.how === 'aborted' && !reply.isFull) loop.receipt.modelAborted(loop.ports.clock.now());

  const isLost = !reply.hasBegun && (end.how === 'failed' || (end.how === 'broken' && isLastAttempt(loop.state)));
  const isBrokenOff = reply.hasBegun && (end.how === 'failed' || end.how === 'broken');
  const usage = result.usage(toFinishReason(result, reply));
  const [message, ...calls] = yield* reply.conclude(end, decoded);
  yield toFactsStep(loop, message ? [message, usage, ...calls] : [usage], { hold: true });
  const instead = message || isLost ? [] : afterBrokenReplies(loop, result);
  if (instead.length > 0) yield toFactsStep(loop, instead, { hold: true });
  else loop.pause = toPause(end, loop.state);
  if (isLost) {
    const error = end.how === 'failed' ? end.error : noReply(loop.state);
    yield toFactsStep(loop, [...withdrawUnstored(loop), toFailed(loop, error)], { hold: true });
  }
  if (isBrokenOff) yield* withdrawUnsent(loop);
  if (formatProblem(result, decoded)?.isPrintedCall)
    yield toFactsStep(loop, [toFailed(loop, printedCall)], { hold: true });
}

/** Drops the call that a reply was writing when it broke off: it was shown, and the rest of the reply is stored. */
function* withdrawUnsent(loop: LoopContext): Generator<Step, void> {
  const facts = withdrawUnstored(loop);
  if (facts.length > 0) yield toFactsStep(loop, facts, { hold: true });
  delete loop.shown; // the end of the run withdraws nothing of it once more
}

/** Before the same model is asked for a reply that broke off. */
const toPause = (end: ModelEnd, { phase, lostReplies: attempt }: RunState): ModelPause | undefined =>
  end.how === 'broken' && end.retryAfterMs !== undefined && phase === 'thinking'
    ? { attempt, delay_ms: end.retryAfterMs, error: end.error }
    : undefined;

/** A call that was never made is no answer. */
const printedCall: RunError = {
  code: 'printed_tool_call',
  message:
    'The model printed a tool call as text instead of making it, and did so again when it was told: its server does not read the notation of its template. Use the dialect xml_invoke for it (processor.dialect), or declare printed_calls for the model in MODEL_PROVIDERS.',
};

function toFinishReason({ end }: ModelCallResult, reply: Reply): string {
  if (reply.isTooLong) return 'length';
  if (reply.isFull) return 'xml_tool_limit_reached';
  return end.how === 'finished' ? end.finishReason : end.how;
}

const withTurns = (prompt: ModelRequest, turns: readonly ModelMessage[]): ModelRequest =>
  turns.length === 0 ? prompt : { ...prompt, messages: [...prompt.messages, ...turns] };

/** The reply so far and an instruction about it, for one request; neither is stored. */
const exchange = (reply: string, instruction: string): readonly ModelMessage[] => [
  { role: 'assistant', content: [{ type: 'text', text: reply.trim() === '' ? '(nothing)' : reply }] },
  { role: 'user', content: [{ type: 'text', text: instruction }] },
];

/** How long a fallback is asked in the place of the run's own model: a minute at first, twice as long after each time. */
const shortestMs = 60_000;
const longestMs = 16 * shortestMs;

/** Attempts at a reply that break off before another model is asked. */
const brokenReplies = 2;

/** The model that is asked now: the run's own, or a fallback. */
function modelNow({ run, state, ports }: Pick<LoopContext, 'run' | 'state' | 'ports'>): string {
  const { fallback } = state;
  return fallback && ports.clock.now() < fallback.until ? fallback.model : run.settings.model;
}

/** Whether another model is asked when this one is away. */
const hasFallback = ({ run, model }: LoopContext): boolean =>
  fallbackAfter(run.settings.fallbacks ?? [], model, 'service_unavailable') !== undefined;

/** Has the next model asked, where one stands in for the error. A reply of which a part is stored is not asked for again. */
function* fallBack(loop: LoopContext, result: ModelCallResult, { hasBegun }: Reply): Generator<Step, boolean> {
  const { end } = result;
  const fact = end.how === 'failed' && !hasBegun ? fellBack(loop, end.error) : undefined;
  if (fact) yield factsStep(loop, result.usage('fell_back'), fact);
  return fact !== undefined;
}

/** The fact that another model is asked after replies that broke off again and again. */
function afterBrokenReplies(loop: LoopContext, { end }: ModelCallResult): NewFact[] {
  const fact = end.how === 'broken' && loop.state.lostReplies >= brokenReplies ? fellBack(loop, end.error) : undefined;
  return fact ? [fact] : [];
}

function fellBack({ run, state, model, ports }: LoopContext, error: RunError): NewFact | undefined {
  const to = fallbackAfter(run.settings.fallbacks ?? [], model, error.code);
  if (to === undefined) return undefined;
  const waitMs = Math.min(shortestMs * 2 ** (state.fallback?.times ?? 0), longestMs);
  const retry_at = new Date(Date.parse(ports.clock.now()) + waitMs).toISOString();
  return { type: 'model.fell_back', iteration: state.iteration, data: { from: model, to, error, retry_at } };
}

/**
 * What a reply cost whose end was lost with its worker, where a part of it is stored: it is not requested again, and its
 * usage would have come with its end. Estimated from the request and the stored parts, at the lowest rate of its model.
 */
export async function lostUsage({ run, state, ports, meter }: LoopContext): Promise<NewFact> {
  const { conversation, iteration } = state;
  const isPart = (message: NewMessage) =>
    message.type === 'assistant' && message.run_id === run.id && message.iteration === iteration;
  const parts = conversation.filter(isPart);
  const before = conversation.slice(0, conversation.findIndex(isPart));
  const input = await countRequestTokens({ run, state: { ...state, conversation: before } }, meter);
  const output = (await meter.ofMessages(parts)).reduce((sum, tokens) => sum + tokens, 0);
  const storedModel = parts.at(-1)?.metadata['model'];
  const model = typeof storedModel === 'string' ? storedModel : run.settings.model;
  const price = ports.leastInputPrice?.(model);
  const data = {
    model_call_id: ports.ids.modelCallId(),
    model,
    ...{ input_tokens: input, cached_tokens: 0, output_tokens: output },
    cost_usd: price === undefined ? null : (input + output) * price,
    estimated: true,
    finish_reason: 'broken',
    ...{ duration_ms: 0, first_token_ms: null },
  };
  return { type: 'usage.recorded', iteration, data };
}

/** Calls the model once and passes its output to the reply. Closes the stream as soon as the reply is full. */
async function* callModel(
  loop: LoopContext,
  reply: Reply,
  prompt: ModelRequest,
): AsyncGenerator<Step, ModelCallResult> {
  const { ids, clock, model } = loop.ports;
  const call = { model: loop.model, iteration: loop.state.iteration, beganAt: clock.now() };
  let firstOutputAt: string | undefined;
  const { stop } = loop.signals;
  const replyIsFull = new AbortController();

  for await (const chunks of model.stream(prompt, AbortSignal.any([stop, replyIsFull.signal]))) {
    for (const chunk of chunks) {
      switch (chunk.type) {
        case 'retried':
          yield factsStep(loop, toRetried(loop, chunk));
          break;
        case 'end':
          return {
            end: chunk,
            usage: (finishReason) => usageFactFor({ call, finishReason, firstOutputAt }, chunk, { ids, clock }),
          };
        case 'text':
        case 'reasoning':
        case 'reasoning_end':
        case 'call_start':
        case 'call_arguments':
        case 'call_end':
          firstOutputAt ??= clock.now();
          if (!reply.isFull) for (const step of reply.receive(chunk)) yield step;
          if (reply.isFull) replyIsFull.abort();
      }
    }
  }
  throw new Error('a model ended its stream without an end chunk');
}

const toRetried = (
  { state: { iteration } }: LoopContext,
  { attempt, delayMs, error, pacedBy }: Extract<ModelChunk, { type: 'retried' }>,
): NewFact => ({
  type: 'model.retried',
  iteration,
  data: { attempt, delay_ms: delayMs, error, ...(pacedBy !== undefined && { paced_by: pacedBy }) },
});
