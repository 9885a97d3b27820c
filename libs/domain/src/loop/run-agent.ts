import type { NewFact } from '@rondo/contract';
import { mayCallModel } from '../budget/run-limits';
import { stopChildren } from '../child-runs/child-runs';
import { TerminalError } from '../errors';
import { type AgentRun, type LoopContext, type Step, factsStep, toFactsStep } from '../loop-context';
import type { AgentPorts, AgentSignals } from '../ports';
import { createMeter } from '../prompt/prompt';
import { StopReceipt } from '../run/stop-receipt';
import { withdrawRest } from './begin-reply';
import { compactIfNeeded } from './compact';
import { decide } from './decide';
import { settle } from './settle';
import { lostUsage, think } from './think';

/**
 * The agent loop. Each iteration has four phases:
 *
 *   settle            answers every tool call that the model waits for
 *   decide            ends the run, parks it, or continues
 *   compactIfNeeded   shortens the conversation if the next request would be too long
 *   think             calls the model and streams its reply
 *
 * The loop yields what happened and then waits. The caller commits the facts of a step in one transaction before it asks
 * for the next step, so nothing happens that is not in the log: a tool call is sent after its intent is committed, and a
 * committed reply is never requested again (I4). Recovery after a crash needs no code of its own: the next worker
 * replays the log and calls this again, which settles open calls and requests a reply that never arrived.
 *
 * A step with `hold` may be committed together with the next one, because nothing happens between them. A step with
 * `meanwhile` may be committed while the next one is awaited: only a request to the model follows, which changes
 * nothing and can be repeated after a crash.
 *
 * When the loop returns, the run has ended, is parked, or (after `drain`) is left to another worker; its state says
 * which. Nothing is caught: tools and models return their failures as values, and any other error (a lost claim, a
 * database that is down) goes to the caller.
 */
export async function* runAgent(run: AgentRun, ports: AgentPorts, signals: AgentSignals): AsyncGenerator<Step, void> {
  const loop: LoopContext = {
    beganAt: ports.clock.now(),
    run,
    ports,
    signals,
    state: run.state,
    receipt: new StopReceipt(),
    inFlight: new Map(),
    model: run.settings.model,
    childRuns: new Map(),
    meter: createMeter(run, ports.tokens),
    unread: [],
  };
  if (loop.state.ended) return;
  const noteStop = () => (loop.stoppedAt = ports.clock.now());
  signals.stop.addEventListener('abort', noteStop, { once: true });
  try {
    if (!loop.state.started) yield toFactsStep(loop, [runStarted(run), ...(run.tools.servers ?? [])], { hold: true });

    if (loop.state.phase === 'acting' && loop.state.isReplying) {
      const usage = await lostUsage(loop);
      yield factsStep(loop, withdrawRest(loop), usage);
    }

    for (;;) {
      yield* settle(loop);
      const withinMs = signals.stop.aborted ? receiptTimeLeft(loop) : receiptMs;
      const leftovers = isStopped(loop) && loop.state.ranCommands ? ports.tools.endRun(withinMs) : undefined;
      yield* stopChildren(loop, withinMs);
      if (leftovers) loop.receipt.recordLeft(await leftovers);

      loop.unread = (await ports.waitingMessages?.()) ?? [];
      const { facts, done } = decide(loop);
      if (facts.length > 0) yield toFactsStep(loop, facts, { hold: !done });
      if (done || signals.drain.aborted) return;

      // Without a budget for it, a summary is pointless: `think` ends or parks the run.
      if (await mayCallModel(loop)) {
        const compaction = yield* compactIfNeeded(loop);
        if (compaction.done) return;
      }

      const { isParked } = yield* think(loop);
      if (isParked) return;
    }
  } finally {
    signals.stop.removeEventListener('abort', noteStop);
  }
}

/** The end of a run waits so long for its receipt, counted from the stop; what is not confirmed by then is unverified. */
const receiptMs = 3_000;

const receiptTimeLeft = ({ stoppedAt, beganAt, ports: { clock } }: LoopContext): number =>
  Math.max(0, receiptMs - (Date.parse(clock.now()) - Date.parse(stoppedAt ?? beganAt)));

/** It names the run's tools, so that every later activation uses the same ones. */
const runStarted = ({ tools: { hash } }: AgentRun): NewFact => ({
  type: 'run.started',
  iteration: 0,
  data: hash === undefined ? {} : { tool_set: hash },
});

const isStopped = ({ signals: { stop }, state }: LoopContext): boolean =>
  !state.ended && stop.aborted && !(stop.reason instanceof TerminalError);
