import type { NewFact, ToolCall } from '@rondo/contract';
import { type LoopContext, type Step, factsStep } from '../loop-context';
import type { CallToSend, ToolAnswer } from '../ports';
import { type LedgerEntry, awaitsCalls, awaitsPerson, findUnanswered, openCalls } from '../run/ledger';
import { endsTurn } from '../tools/conversation.tools';
import { awaitsApproval } from './approve-call';
import { listAnswers } from './program-calls';

/** Sequential calls after the one that ends the turn are not executed. */
export const isTurnOver = ({ state, run }: Pick<LoopContext, 'state' | 'run'>): boolean =>
  run.settings.processor.tool_execution_strategy === 'sequential' &&
  [...state.calls.values()].some(({ call, status }) => endsTurn(call.name) && status === 'completed');

/**
 * The open calls that may run now: all, or only the first if calls are sequential. A call that awaits a person or the
 * caller therefore blocks the calls behind it only if they are sequential.
 */
export function nextWave(loop: LoopContext): LedgerEntry[] {
  const open = openCalls(loop.state);
  const wave = findFront(loop).filter(
    (entry) =>
      !awaitsPerson(entry) &&
      !awaitsCalls(open, entry) &&
      !awaitsInput(entry) &&
      !awaitsChild(loop, entry) &&
      !isAsked(loop, entry),
  );
  return isTurnOver(loop)
    ? wave
    : wave.filter((entry) => !awaitsApproval(loop, entry) && !runsAtCaller(loop, entry.call));
}

/** Its server has asked people for something that they have not answered. */
const awaitsInput = (entry: LedgerEntry): boolean => findUnanswered(entry).length > 0;

/** The caller was asked to run it. */
const isAsked = (loop: LoopContext, { call, status }: LedgerEntry): boolean =>
  status === 'dispatched' && runsAtCaller(loop, call);

/**
 * The open calls that the caller is to run. Where calls are sequential, these are the ones at the front that follow each
 * other: in which order they run is then the caller's decision.
 */
export function callsForCaller(loop: LoopContext): LedgerEntry[] {
  if (isTurnOver(loop)) return [];
  const open = openCalls(loop.state);
  const isReady = (entry: LedgerEntry) =>
    runsAtCaller(loop, entry.call) && !entry.isUndecided && !awaitsApproval(loop, entry);
  if (isParallel(loop)) return open.filter(isReady);
  const end = open.findIndex((entry) => !isReady(entry));
  return end < 0 ? open : open.slice(0, end);
}

/** The open calls whose approval a person must decide before the run can go on. */
export const listUnapprovedCalls = (loop: LoopContext): LedgerEntry[] =>
  findFront(loop).filter((entry) => awaitsApproval(loop, entry));

function findFront(loop: LoopContext): LedgerEntry[] {
  const open = openCalls(loop.state);
  return isParallel(loop) ? open : open.slice(0, 1);
}

const isParallel = ({ run }: Pick<LoopContext, 'run'>): boolean =>
  run.settings.processor.tool_execution_strategy === 'parallel';

export const runsAtCaller = ({ run }: Pick<LoopContext, 'run'>, call: ToolCall): boolean =>
  run.tools.named(call.name)?.runsIn === 'caller';

export const runsInLoop = ({ run }: Pick<LoopContext, 'run'>, call: ToolCall): boolean =>
  run.tools.named(call.name)?.runsIn === 'loop';

export const startsRun = ({ run }: Pick<LoopContext, 'run'>, call: ToolCall): boolean =>
  run.tools.named(call.name)?.runsIn === 'child_run';

/** Its run was started, and its end is the answer; or it is ended with this run. */
const awaitsChild = (loop: LoopContext, { call }: LedgerEntry): boolean =>
  loop.childRuns.has(call.id) || (loop.signals.stop.aborted && startsRun(loop, call));

export const callStarted = (loop: LoopContext, { call, attempts }: LedgerEntry): NewFact => ({
  type: 'tool.started',
  iteration: loop.state.iteration,
  data: { tool_call_id: call.id, name: call.name, attempt: attempts + 1, store: loop.ports.tools.store },
});

const withAttempt = (
  { state }: Pick<LoopContext, 'state'>,
  attempt: number,
  { call, input, task, askedIn }: LedgerEntry,
): CallToSend => ({
  ...call,
  attempt,
  ...(task && { task }),
  ...(askedIn !== undefined && { answers: listAnswers(state.calls, call.id) }),
  ...(input && {
    input: { answers: input.answers, ...(input.state !== undefined && { state: input.state }) },
  }),
});

/** An executor answers it. */
export const isRemote = (loop: LoopContext, call: ToolCall): boolean =>
  !runsInLoop(loop, call) && !startsRun(loop, call) && !runsAtCaller(loop, call);

/** Sends planned calls while the reply is still streaming. `settle` collects their answers. */
export function* startDuringReply(loop: LoopContext): Generator<Step, void> {
  const wave = loop.signals.stop.aborted
    ? []
    : nextWave(loop).filter(({ call, status }) => status === 'planned' && isRemote(loop, call));
  yield factsStep(loop, ...wave.map((entry) => callStarted(loop, entry)));
  for (const entry of wave) loop.inFlight.set(entry.call.id, awaitLater(send(loop, entry)));
}

/** The answer of a call that was sent during the reply, or that is sent or looked up now. */
export function answerTo(loop: LoopContext, entry: LedgerEntry): Promise<ToolAnswer> {
  const answer = loop.inFlight.get(entry.call.id);
  loop.inFlight.delete(entry.call.id);
  return answer ?? send(loop, entry);
}

/** Looks up a call that the log has as dispatched, and sends any other. A retry has the same id and a higher attempt. */
function send(loop: LoopContext, entry: LedgerEntry): Promise<ToolAnswer> {
  const {
    ports: { tools },
    signals: { stop },
  } = loop;
  const { status, attempts, store } = entry;
  return status === 'dispatched'
    ? tools.reattach({ call: withAttempt(loop, attempts, entry), store }, stop)
    : tools.execute(withAttempt(loop, attempts + 1, entry), stop);
}

/** Prevents an unhandled rejection: the answer is awaited later and rejects there. */
function awaitLater(answer: Promise<ToolAnswer>): Promise<ToolAnswer> {
  answer.catch(() => undefined);
  return answer;
}
