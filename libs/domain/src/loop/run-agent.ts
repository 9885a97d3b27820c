import { mayCallModel } from '../run/run-budget';
import { ContextMeter } from '../context/context-meter';
import { decide } from './decide';
import { TerminalError } from '../errors';
import { compactIfNeeded } from './compact';
import type { AgentPorts, AgentSignals } from '../ports';
import { type AgentRun, type LoopContext, type Step, factsStep, factsStepOf } from './loop-context';
import { settle } from './settle';
import { StopReceipt } from './stop-receipt';
import { think } from './think';
import { withdrawnStreams } from './withdrawn-streams';
import type { NewFact } from '@rondo/contract';

/**
 * The agent loop. The rest of the repository feeds it or listens to it.
 *
 *   settle   answer every tool call that the model is waiting for
 *   decide   is the run over, or must it wait?
 *   make room  for the next request, if the conversation has become too long
 *   think    ask the model, and pass on what it says
 *
 * It yields what happened and then waits. The caller writes the facts of a step in one transaction before it asks for
 * the next step, so nothing is done that is not in the log: a call is dispatched after its intent is committed, and a
 * committed reply is never asked for again (I4). Resuming after a crash is therefore no second code path. It is "load
 * the log, call this again": debts are settled first, and a reply that never arrived is asked for anew.
 *
 * A step marked `hold` may be written together with the next one, because nothing happens in between. One marked
 * `meanwhile` holds nothing up: only a question to the model follows it, which costs and changes nothing. A crash may
 * have it asked again; what the answer brings is shown and written after the step, as ever.
 *
 * When it returns, the run is over, parked, or (after `drain`) left to another worker; its state tells which.
 * There is no try/catch here. Tools answer even when they fail, models say how they ended, and what remains
 * (a lost claim, a database that is away) goes through the loop to the caller.
 */
export async function* runAgent(run: AgentRun, ports: AgentPorts, signals: AgentSignals): AsyncGenerator<Step, void> {
  const loop: LoopContext = {
    beganAt: ports.clock.now(),
    run,
    ports,
    signals,
    state: run.state,
    receipt: new StopReceipt(),
    underWay: new Map(),
    meter: new ContextMeter(ports.tokens, run.settings.model),
  };
  if (loop.state.ended) return;

  const started: NewFact = { type: 'run.started', iteration: 0, data: {} };
  if (!loop.state.started) yield factsStepOf(loop, [started], { hold: true });

  if (loop.state.phase === 'acting' && loop.state.isSpeaking) yield factsStep(loop, withdrawal(loop));

  for (;;) {
    yield* settle(loop);
    if (isStopped(loop) && loop.state.ranCommands) loop.receipt.leftRunning(await ports.tools.endRun());

    const { facts, over } = decide(loop);
    if (facts.length > 0) yield factsStepOf(loop, facts, { hold: !over });
    if (over || signals.drain.aborted) return;

    if (await mayCallModel(loop)) {
      const room = yield* compactIfNeeded(loop);
      if (room.over) return;
    }

    yield* think(loop);
  }
}

const isStopped = ({ signals: { stop }, state }: LoopContext): boolean =>
  !state.ended && stop.aborted && !(stop.reason instanceof TerminalError);

/** A reply of which a part is stored is not asked for again: what a crash cut off after that part is withdrawn. */
function withdrawal({ state: { iteration, messageId }, state, ports }: LoopContext): NewFact {
  const data = {
    iteration,
    message_id: messageId ?? ports.ids.messageId(),
    withdrawn_stream_ids: withdrawnStreams(state),
  };
  return { type: 'iteration.restarted', iteration, data };
}
