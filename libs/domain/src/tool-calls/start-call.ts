import { type KnownCall, awaitsPerson, openCalls } from './ledger';
import { type LoopContext, type Step, factsStep } from '../loop/loop-context';
import type { ToolAnswer } from '../ports';
import type { NewFact, ToolCall } from '@rondo/contract';

/**
 * The open calls that may run now: all at once, or one after the other. One that awaits a person holds up those behind
 * it only where they go one after the other.
 */
export function nextWave({ state: run, run: { settings } }: LoopContext): KnownCall[] {
  const open = openCalls(run);
  const wave = settings.processor.tool_execution_strategy === 'parallel' ? open : open.slice(0, 1);
  return wave.filter((known) => !awaitsPerson(known));
}

export const runsInLoop = ({ run }: Pick<LoopContext, 'run'>, call: ToolCall): boolean =>
  run.tools.named(call.name)?.runsIn === 'loop';

export const startOf = (loop: LoopContext, { call, attempts }: KnownCall): NewFact => ({
  type: 'tool.started',
  iteration: loop.state.iteration,
  data: { tool_call_id: call.id, name: call.name, attempt: attempts + 1, store: loop.ports.tools.store },
});

const inAttempt = (attempt: number, call: ToolCall): ToolCall => ({ ...call, attempt });

/** While the model still speaks: commits what is planned, and sends out what may run. The answers wait for `settle`. */
export function* startWhileSpeaking(loop: LoopContext): Generator<Step, void> {
  const wave = loop.signals.stop.aborted
    ? []
    : nextWave(loop).filter(({ call, status }) => status === 'planned' && !runsInLoop(loop, call));
  yield factsStep(loop, ...wave.map((known) => startOf(loop, known)));
  for (const known of wave) loop.underWay.set(known.call.id, settledLater(send(loop, known)));
}

/** The answer of a call that was sent while the model spoke, or that is sent or looked for now. */
export function answerTo(loop: LoopContext, known: KnownCall): Promise<ToolAnswer> {
  const sent = loop.underWay.get(known.call.id);
  loop.underWay.delete(known.call.id);
  return sent ?? send(loop, known);
}

/** What the log knows as dispatched is looked for; anything else is sent, the next time under the same id (R25). */
function send({ ports: { tools }, signals: { stop } }: LoopContext, known: KnownCall): Promise<ToolAnswer> {
  const { call, status, attempts, store } = known;
  return status === 'dispatched'
    ? tools.reattach({ call: inAttempt(attempts, call), store }, stop)
    : tools.execute(inAttempt(attempts + 1, call), stop);
}

/** Its rejection is heard when the answer is asked for, and not before. */
function settledLater(answer: Promise<ToolAnswer>): Promise<ToolAnswer> {
  answer.catch(() => undefined);
  return answer;
}
