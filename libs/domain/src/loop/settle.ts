import { type CallOutcome, answerCall } from '../tool-calls/answer-call';
import { type KnownCall, openCalls } from '../tool-calls/ledger';
import { answerInLoop } from '../memory/in-loop-tools';
import { recall } from '../memory/recall';
import { type LoopContext, type Step, factsStep, factsStepOf } from './loop-context';
import type { ToolAnswer } from '../ports';
import { type NewFact, type ToolCall, boundedResult, boundedText, failedResult } from '@rondo/contract';
import { answerTo, nextWave, runsInLoop, startOf } from '../tool-calls/start-call';
import { endsTurn } from '../tools/conversation.tools';

/** How often a call is sent in all while its outcome is unknown and a second execution does no harm. */
const maxAttempts = 3;

/**
 * Answers the open calls of the iteration, in waves: all at once, or one after the other. A call that an earlier
 * holder sent is looked for, not sent again. When it is done, each call has exactly one result in the log (I6), but
 * for those that await a person and those behind them; and in a run that is stopped, those that never ran.
 */
export async function* settle(loop: LoopContext): AsyncGenerator<Step, void> {
  if (loop.state.phase !== 'acting') return;

  for (let wave = nextWave(loop); wave.length > 0; wave = nextWave(loop)) {
    const isStopped = loop.signals.stop.aborted;
    const goes = isStopped || conversationEnded(loop) ? wave.filter(isSent) : wave;
    if (goes.length > 0) yield* run(loop, goes);
    else if (isStopped) return;
    else for (const { call } of wave) yield answer(loop, call, { result: notExecuted, durationMs: 0 });
  }
}

const isSent = ({ status }: KnownCall): boolean => status === 'dispatched';
const isUnsent = (known: KnownCall): boolean => !isSent(known);

/** One after the other, nothing runs after the call that hands the turn back (RP11). */
const conversationEnded = ({ state, run }: LoopContext): boolean =>
  run.settings.processor.tool_execution_strategy === 'sequential' &&
  [...state.calls.values()].some(({ call, status }) => endsTurn(call.name) && status === 'completed');

const notExecuted = failedResult('This call was not executed: the turn ended before it.');

/** Starts what was not started, then passes on the answers as they come, so that a slow tool hides no other's answer. */
async function* run(loop: LoopContext, wave: readonly KnownCall[]): AsyncGenerator<Step, void> {
  const started = wave.filter(isUnsent).map((known) => startOf(loop, known));
  const inLoop = wave.filter(({ call }) => runsInLoop(loop, call));
  const away = wave.filter((known) => !inLoop.includes(known));

  if (started.length > 0) yield factsStepOf(loop, started, { hold: away.length === 0 });
  for (const { call } of inLoop) {
    const conversation = await recall(call, loop.state.conversation, loop.ports.archive);
    const result = answerInLoop(call, conversation, loop.run);
    yield answer(loop, call, { result, durationMs: 0 });
  }

  const pending = new Map(away.map((known) => [known.call, outcomeOf(loop, known)]));
  while (pending.size > 0) {
    const { call, outcome } = await Promise.race(pending.values());
    pending.delete(call);
    yield conclude(loop, call, outcome);
  }
}

const outcomeOf = async (loop: LoopContext, known: KnownCall) => ({
  call: known.call,
  outcome: await answerTo(loop, known),
});

function conclude(loop: LoopContext, call: ToolCall, outcome: ToolAnswer): Step {
  switch (outcome.how) {
    case 'answered':
      return answer(loop, call, { ...outcome, result: boundedResult(outcome.result) });
    case 'unknown': {
      const reason = boundedText(outcome.reason);
      return staysBetweenUs(loop, call)
        ? factsStep(loop, unknown(loop, call, reason))
        : answer(loop, call, { unknown: reason });
    }
    case 'stopped': {
      const verifiedDeadAt = wasSentBefore(loop, call) ? null : outcome.verifiedDeadAt;
      loop.receipt.toolStopped({ tool_call_id: call.id, verified_dead_at: verifiedDeadAt });
      return answer(
        loop,
        call,
        verifiedDeadAt === null
          ? { unknown: 'The run was stopped while this tool ran, and nobody confirmed in time that it ended.' }
          : { result: failedResult('The run was stopped while this tool ran; it was killed.'), durationMs: 0 },
      );
    }
  }
}

/** An earlier attempt whose outcome is unknown may still take effect, whatever is known of the last one. */
const wasSentBefore = ({ state }: LoopContext, { id }: ToolCall): boolean => (state.calls.get(id)?.attempts ?? 0) > 1;

/** The model is not told of an unknown outcome as long as the call can be sent again, or a person may know more (I5). */
function staysBetweenUs({ run, state: { calls }, signals }: LoopContext, call: ToolCall): boolean {
  if (signals.stop.aborted) return false;
  if (call.effect_class === 'unsafe') return run.settings.processor.unknown_outcome === 'park';
  return (calls.get(call.id)?.attempts ?? 0) < maxAttempts;
}

const unknown = ({ state: { iteration } }: LoopContext, { id, name }: ToolCall, reason: string): NewFact => ({
  type: 'tool.unknown',
  iteration,
  data: { tool_call_id: id, name, reason },
});

/** The last answer may be written together with what follows it. */
function answer(loop: LoopContext, call: ToolCall, outcome: CallOutcome): Step {
  const facts = answerCall(loop, call, outcome);
  const isLast = openCalls(loop.state).length === 1;
  return factsStepOf(loop, facts, { hold: isLast });
}
