import { type McpTask, type NewFact, type ToolCall, boundResult, boundText, toFailedResult } from '@rondo/contract';
import { startChild } from '../child-runs/child-runs';
import { type LoopContext, type Step, factsStep, toFactsStep } from '../loop-context';
import { type LoopResult, answerInLoop, recall } from '../memory/in-loop-tools';
import { useMemoryStore } from '../memory/memory-stores';
import type { ToolAnswer } from '../ports';
import { type LedgerEntry, attemptsSince, openCalls } from '../run/ledger';
import { answerCall, type CallOutcome } from '../tool-calls/answer-call';
import { inputRequested } from '../tool-calls/call-input';
import { planProgramCalls } from '../tool-calls/program-calls';
import { answerTo, callStarted, isRemote, isTurnOver, nextWave, runsInLoop, startsRun } from '../tool-calls/start-call';
import { isMemoryStoreTool } from '../tools/memory-store.tools';
import { wellFormed } from '../well-formed';

/** The most times that a call is sent while its outcome is unknown and a repetition is safe. */
const maxAttempts = 3;
/** The same of a call whose server works on it as a task. */
const mostTaskAttempts = 20;

/**
 * Answers the open calls of the iteration in waves: all calls at once, or one after the other. A call that an earlier
 * holder sent is looked up instead of sent again.
 *
 * Afterwards each call has exactly one result in the log (I6), with two exceptions: a call that awaits a person (its outcome
 * is unknown, it needs approval, or its server asks for something), the caller or a child run, with the calls behind it, and the calls of a stopped run that
 * never ran.
 */
export async function* settle(loop: LoopContext): AsyncGenerator<Step, void> {
  if (loop.state.phase !== 'acting') return;

  for (let wave = nextWave(loop); wave.length > 0; wave = nextWave(loop)) {
    const isStopped = loop.signals.stop.aborted;
    const runnable = isStopped || isTurnOver(loop) ? wave.filter(isSent) : wave;
    if (runnable.length > 0) yield* runWave(loop, runnable);
    else if (isStopped) return yield* leaveTasks(loop, wave);
    else for (const { call } of wave) yield answer(loop, call, { result: notExecuted, durationMs: 0 });
  }
}

const isSent = ({ status }: LedgerEntry): boolean => status === 'dispatched';
const isUnsent = (entry: LedgerEntry): boolean => !isSent(entry);

const notExecuted = toFailedResult('This call was not executed: the turn ended before it.');

/** Starts the unsent calls and yields each answer as it arrives, so that a slow tool delays no other. */
async function* runWave(loop: LoopContext, wave: readonly LedgerEntry[]): AsyncGenerator<Step, void> {
  const starts = wave.filter(isUnsent).map((entry) => callStarted(loop, entry));
  const inLoop = wave.filter(({ call }) => runsInLoop(loop, call));
  const children = wave.filter(({ call }) => startsRun(loop, call));
  const remote = wave.filter(({ call }) => isRemote(loop, call));

  const outside = [...remote, ...children, ...inLoop.filter(({ call }) => isMemoryStoreTool(call.name))];
  if (starts.length > 0) yield toFactsStep(loop, starts, { hold: outside.length === 0 });
  for (const { call } of children) {
    const refusal = await startChild(loop, call);
    if (refusal !== undefined) yield answer(loop, call, { result: toFailedResult(refusal), durationMs: 0 });
  }
  for (const { call } of inLoop) {
    const { loadedTools, ...result } = await answerHere(loop, call);
    yield answer(loop, call, { result, durationMs: 0, loadedTools });
  }

  const pending = new Map(remote.map((entry) => [entry.call, readOutcome(loop, entry)]));
  while (pending.size > 0) {
    const { call, outcome } = await Promise.race(pending.values());
    pending.delete(call);
    yield record(loop, call, outcome);
  }
}

/** The run was stopped before anyone could cancel these at their servers. */
function* leaveTasks(loop: LoopContext, wave: readonly LedgerEntry[]): Generator<Step, void> {
  for (const { call, task } of wave)
    if (task)
      yield answer(loop, call, { unknown: 'The run was stopped while the server of this tool worked on a task.' });
}

async function answerHere({ run, state, ports }: LoopContext, call: ToolCall): Promise<LoopResult> {
  if (isMemoryStoreTool(call.name)) return useMemoryStore(call, run, ports.memory);
  const conversation = await recall(call, state.conversation, ports.archive);
  return answerInLoop(call, conversation, { ...run, loaded: state.loadedTools });
}

const readOutcome = async (loop: LoopContext, entry: LedgerEntry) => ({
  call: entry.call,
  outcome: await answerTo(loop, entry),
});

function record(loop: LoopContext, call: ToolCall, outcome: ToolAnswer): Step {
  switch (outcome.how) {
    case 'answered': {
      const { browser, ...result } = wellFormed(outcome.result);
      return answer(loop, call, { ...outcome, result: boundResult(result), browser });
    }
    case 'input_required':
      return factsStep(loop, inputRequested(loop, call, outcome.required));
    case 'calls':
      return factsStep(loop, ...planProgramCalls(loop, call, outcome.requests));
    case 'task':
      return factsStep(loop, taskCreated(loop, call, { task: outcome.task }));
    case 'unknown': {
      const reason = boundText(outcome.reason);
      const task = outcome.isLost ? undefined : findTask(loop, call);
      if (task) return factsStep(loop, taskCreated(loop, call, { task, reason }));
      return mayStillBeResolved(loop, call)
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
          ? {
              unknown: 'The run was stopped while this tool ran, and it was not confirmed in time that the tool ended.',
            }
          : {
              result: toFailedResult('The run was stopped while this tool ran; it was killed.'),
              durationMs: outcome.durationMs ?? 0,
            },
      );
    }
  }
}

/** An earlier attempt with an unknown outcome may still take effect, even when the last one was killed. */
const wasSentBefore = (loop: LoopContext, call: ToolCall): boolean => countAttempts(loop, call) > 1;

const countAttempts = ({ state }: LoopContext, { id }: ToolCall): number => {
  const entry = state.calls.get(id);
  return entry ? attemptsSince(entry) : 0;
};

/** True while the call can be sent again or a person can decide; until then the model is not told (I5). */
function mayStillBeResolved(loop: LoopContext, call: ToolCall): boolean {
  const { run, signals } = loop;
  if (signals.stop.aborted) return false;
  if (call.effect_class === 'unsafe') return run.settings.processor.unknown_outcome === 'park';
  return countAttempts(loop, call) < maxAttempts;
}

/** The task to ask for again, which repeats nothing, whatever the effect of the call is. */
function findTask({ state: { calls }, signals }: LoopContext, { id }: ToolCall): McpTask | undefined {
  const entry = calls.get(id);
  return signals.stop.aborted || (entry?.attempts ?? 0) >= mostTaskAttempts ? undefined : entry?.task;
}

type TaskFact = Extract<NewFact, { type: 'tool.task_created' }>['data'];

const taskCreated = (
  { state: { iteration } }: LoopContext,
  { id, name }: ToolCall,
  task: Pick<TaskFact, 'task' | 'reason'>,
): NewFact => ({ type: 'tool.task_created', iteration, data: { tool_call_id: id, name, ...task } });

const unknown = ({ state: { iteration } }: LoopContext, { id, name }: ToolCall, reason: string): NewFact => ({
  type: 'tool.unknown',
  iteration,
  data: { tool_call_id: id, name, reason },
});

/** The answer of the last open call may be committed together with what follows it. */
function answer(loop: LoopContext, call: ToolCall, outcome: CallOutcome): Step {
  const facts = answerCall(loop, call, outcome);
  const isLast = openCalls(loop.state).length === 1;
  return toFactsStep(loop, facts, { hold: isLast });
}
