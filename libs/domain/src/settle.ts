import { answerCall } from './answer-call';
import { type Pass, type Step, stateTogether } from './pass';
import type { ToolAnswer } from './ports';
import { type KnownCall, openCalls } from './run-state';
import { nextWave, runsInLoop, send, startOf } from './start-call';
import type { ToolCall } from './tool-call';
import { type ToolResult, failedResult } from './tool-result';
import { toolNamed } from './tools/catalog';
import { endsTurn } from './tools/conversation.tools';

/**
 * Answers every open call of the iteration, in waves: all at once, or one after the other. A call that an earlier
 * holder sent is looked for, not sent again. When it is done, each call has exactly one result in the log (I6).
 */
export async function* settle(pass: Pass): AsyncGenerator<Step, void> {
  if (pass.state.phase !== 'acting') return;

  for (let wave = nextWave(pass); wave.length > 0; wave = nextWave(pass)) {
    if (pass.signals.stop.aborted) yield* refuse(pass, planned(wave), 'The run was stopped before this tool ran.');
    else if (conversationEnded(pass)) yield* refuse(pass, planned(wave), 'Not executed: the turn ended before it.');
    yield* run(
      pass,
      wave.filter(({ call }) => openCalls(pass.state).some((open) => open.call.id === call.id)),
    );
  }
}

const planned = (wave: readonly KnownCall[]) => wave.filter(({ status }) => status === 'planned');

/** One after the other, nothing runs after the call that hands the turn back (RP11). */
const conversationEnded = ({ state, run }: Pass): boolean =>
  run.settings.processor.tool_execution_strategy === 'sequential' &&
  [...state.calls.values()].some(({ call, status }) => endsTurn(call.name) && status === 'completed');

function* refuse(pass: Pass, calls: readonly KnownCall[], reason: string): Generator<Step, void> {
  for (const { call } of calls) yield* answer(pass, call, { result: failedResult(reason), durationMs: 0 });
}

/** Starts what was not started, then passes on the answers as they come, so that a slow tool hides no other's answer. */
async function* run(pass: Pass, wave: readonly KnownCall[]): AsyncGenerator<Step, void> {
  const started = planned(wave).map(({ call }) => startOf(pass, call));
  const inLoop = wave.filter(({ call }) => runsInLoop(call));
  const away = wave.filter((known) => !inLoop.includes(known));

  if (started.length > 0) yield* stateTogether(pass, started, { hold: away.length === 0 });
  for (const { call } of inLoop) yield* answer(pass, call, { result: answerInLoop(call), durationMs: 0 });
  for await (const { call, outcome } of asTheyFinish(away, (known) => send(pass, known))) {
    yield* conclude(pass, call, outcome);
  }
}

/** Such tools only mark the end of a turn: their answer is that they were heard. */
function answerInLoop(call: ToolCall): ToolResult {
  const input = toolNamed(call.name)?.input.safeParse(call.arguments);
  if (!input?.success) return failedResult(`Invalid arguments: ${input?.error.message ?? 'unknown tool'}`);
  return { success: true, output: call.name === 'ask' ? "Awaiting the user's answer." : 'The turn is over.' };
}

function* conclude(pass: Pass, call: ToolCall, outcome: ToolAnswer): Generator<Step, void> {
  switch (outcome.how) {
    case 'answered':
      yield* answer(pass, call, outcome);
      return;
    case 'unknown':
      yield* answer(pass, call, { unknown: outcome.reason });
      return;
    case 'stopped':
      pass.receipt.toolStopped({ tool_call_id: call.id, verified_dead_at: outcome.verifiedDeadAt });
      yield* answer(
        pass,
        call,
        outcome.verifiedDeadAt === null
          ? { unknown: 'The run was stopped while this tool ran, and nobody confirmed in time that it ended.' }
          : { result: failedResult('The run was stopped while this tool ran; it was killed.'), durationMs: 0 },
      );
  }
}

/** The last answer may be written together with what follows it. */
function* answer(pass: Pass, call: ToolCall, outcome: Parameters<typeof answerCall>[2]): Generator<Step, void> {
  const facts = answerCall(pass, call, outcome);
  const isLast = openCalls(pass.state).length === 1;
  yield* stateTogether(pass, facts, { hold: isLast });
}

/** Yields each outcome the moment it is known. */
async function* asTheyFinish(
  calls: readonly KnownCall[],
  start: (known: KnownCall) => Promise<ToolAnswer>,
): AsyncGenerator<{ call: ToolCall; outcome: ToolAnswer }, void> {
  const pending = new Map(
    calls.map((known) => [known.call.id, start(known).then((outcome) => ({ call: known.call, outcome }))]),
  );
  while (pending.size > 0) {
    const finished = await Promise.race(pending.values());
    pending.delete(finished.call.id);
    yield finished;
  }
}
