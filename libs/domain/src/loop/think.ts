import { halve, countRequestTokens } from '../context/compress';
import { affordsNextCall, mayCallModel } from '../run/run-budget';
import { completed, failed } from './decide';
import type { DecodedReply } from '../dialects/dialect';
import type { MessageId, NewFact } from '@rondo/contract';
import { type ModelCallResult, callModel } from './model-call';
import { type ModelMessage, type ModelRequest, contextOverflow } from '../models/model';
import { type LoopContext, type Step, factsStep, factsStepOf } from './loop-context';
import { promptOf } from './prompt';
import { Reply } from './reply';
import { withdrawnStreams } from './withdrawn-streams';

/**
 * Asks the model, passes on what it says, and ends with the reply in the log, or with the reason why there is none. It
 * asks again where the reply is not in the form that was asked for, and once where the request was too long (W36).
 */
export async function* think(loop: LoopContext): AsyncGenerator<Step, void> {
  let hints: readonly ModelMessage[] = [];
  let repairs = loop.run.settings.processor.json_repair_attempts;
  let mayShrink = true;

  for (;;) {
    const messageId = loop.ports.ids.messageId();
    if (!(await affordsNextCall(loop))) {
      yield factsStep(loop, ...outOfBudget(loop, messageId));
      return;
    }
    yield factsStepOf(loop, [beginning(loop, messageId)], { hold: false, meanwhile: true });
    const { prompt, decoder } = promptOf(loop);
    const reply = new Reply(loop, messageId, decoder);

    const heard = yield* hearOut(loop, reply, withMore(prompt, hints));
    const decoded = reply.end();
    for (const step of reply.passOn(decoded.rest)) yield step;
    if (mayShrink && wasTooLong(heard, reply)) {
      mayShrink = false;
      if (yield* shrinkAfter(loop, heard)) continue;
    }
    const complaint = reply.hasBegun ? undefined : complaintAbout(heard, decoded); // what is stored of it stands
    if (complaint === undefined || repairs === 0) {
      for (const step of conclude(loop, { reply, heard, decoded })) yield step;
      return;
    }
    repairs -= 1;
    yield factsStep(loop, heard.usage('malformed'));
    hints = exchange(reply.written, `${complaint} Answer again, in the required form only.`);
  }
}

/** The end of the run; what was shown of a reply that will not come is withdrawn. */
const outOfBudget = (loop: LoopContext, messageId: MessageId): NewFact[] => [
  ...(loop.state.phase === 'thinking' ? [beginning(loop, messageId)] : []),
  completed(loop, 'budget_exceeded'),
];

/** A first attempt starts the iteration; after a crash or a lost reply, what was shown of the last one is withdrawn. */
function beginning({ state: run }: LoopContext, messageId: MessageId): NewFact {
  if (run.phase !== 'thinking') {
    const data = { iteration: run.iteration + 1, message_id: messageId };
    return { type: 'iteration.started', iteration: run.iteration + 1, data };
  }
  const data = { iteration: run.iteration, message_id: messageId, withdrawn_stream_ids: withdrawnStreams(run) };
  return { type: 'iteration.restarted', iteration: run.iteration, data };
}

/** Hears a reply to its end, asking the model to go on where its output limit cut it off (LP12, LP13). */
async function* hearOut(loop: LoopContext, reply: Reply, prompt: ModelRequest): AsyncGenerator<Step, ModelCallResult> {
  const most = loop.run.settings.processor.native_max_auto_continues;
  let heard = yield* callModel(loop, reply, prompt);
  loop.meter.calibrate(heard.end.usage);

  for (let continued = 0; wasCutOff(heard, reply) && most > 0; continued++) {
    if (continued === most) {
      const text = `\n\n[Agent reached maximum auto-continue limit of ${most}]`;
      for (const step of reply.hear({ type: 'text', text })) yield step;
      break;
    }
    if (!(await mayCallModel(loop, heard.end.usage))) {
      loop.isCutOffByBudget = true;
      break;
    }
    yield factsStep(loop, heard.usage('continued'));
    heard = yield* callModel(
      loop,
      reply,
      withMore(prompt, exchange(reply.written, 'Go on exactly where you stopped.')),
    );
  }
  return heard;
}

const wasCutOff = ({ end }: ModelCallResult, reply: Reply): boolean =>
  end.how === 'finished' && end.finishReason === 'length' && reply.canGoOn;

const wasTooLong = ({ end }: ModelCallResult, { hasBegun }: Reply): boolean =>
  end.how === 'failed' && end.error.code === contextOverflow && !hasBegun;

/** Makes the next attempt half as long; says whether it could. */
async function* shrinkAfter(loop: LoopContext, heard: ModelCallResult): AsyncGenerator<Step, boolean> {
  const data = await halve(loop, loop.meter);
  if (!data) return false;
  const shorter: NewFact = { type: 'context.compacted', iteration: loop.state.iteration, data };
  yield factsStep(loop, heard.usage('overflow'), shorter);
  await countRequestTokens(loop, loop.meter);
  return true;
}

const complaintAbout = ({ end }: ModelCallResult, { verdict }: DecodedReply): string | undefined =>
  end.how === 'finished' && verdict?.decision === 'malformed' ? verdict.reason : undefined;

/**
 * The reply, what it cost, and the end of the run if asking again cannot help: in one transaction. A reply that has
 * sent calls out does not end the run; their answers come first, and the next call of the model will fail again.
 */
function* conclude(
  loop: LoopContext,
  { reply, heard, decoded }: { reply: Reply; heard: ModelCallResult; decoded: DecodedReply },
): Generator<Step, void> {
  const { end } = heard;
  if (end.how === 'aborted' && !reply.isFull) loop.receipt.modelAborted(loop.ports.clock.now());

  const mayFail = !reply.hasBegun;
  const usage = heard.usage(finishReasonOf(heard, reply));
  const [message, ...calls] = reply.conclude(end, decoded);
  yield factsStepOf(loop, message ? [message, usage, ...calls] : [usage], { hold: true });
  if (end.how === 'failed' && mayFail) yield factsStepOf(loop, [failed(loop, end.error)], { hold: true });
}

function finishReasonOf({ end }: ModelCallResult, reply: Reply): string {
  if (reply.isTooLong) return 'length';
  if (reply.isFull) return 'xml_tool_limit_reached';
  return end.how === 'finished' ? end.finishReason : end.how;
}

const withMore = (prompt: ModelRequest, more: readonly ModelMessage[]): ModelRequest =>
  more.length === 0 ? prompt : { ...prompt, messages: [...prompt.messages, ...more] };

/** What the model said, and what it is told about it: for one request, never for the log. */
const exchange = (said: string, told: string): readonly ModelMessage[] => [
  { role: 'assistant', content: [{ type: 'text', text: said.trim() === '' ? '(nothing)' : said }] },
  { role: 'user', content: [{ type: 'text', text: told }] },
];
