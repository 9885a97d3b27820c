import { type Pass, type Step, state } from './pass';
import type { ToolAnswer } from './ports';
import type { NewFact } from './run-event';
import { type KnownCall, openCalls } from './run-state';
import type { ToolCall } from './tool-call';
import { toolNamed } from './tools/catalog';

/** The open calls that may run now: all at once, or one after the other. */
export function nextWave({ state: run, run: { settings } }: Pass): KnownCall[] {
  const open = openCalls(run);
  return settings.processor.tool_execution_strategy === 'parallel' ? open : open.slice(0, 1);
}

export const runsInLoop = (call: ToolCall): boolean => toolNamed(call.name)?.runsIn === 'loop';

export const startOf = (pass: Pass, call: ToolCall): NewFact => ({
  type: 'tool.started',
  iteration: pass.state.iteration,
  data: { tool_call_id: call.id, name: call.name, attempt: call.attempt + 1, store: pass.ports.tools.store },
});

/** While the model still speaks: commits what is planned, and sends out what may run. The answers wait for `settle`. */
export function* startWhileSpeaking(pass: Pass): Generator<Step, void> {
  const wave = pass.signals.stop.aborted
    ? []
    : nextWave(pass).filter(({ call, status }) => status === 'planned' && !runsInLoop(call));
  yield* state(pass, ...wave.map(({ call }) => startOf(pass, call)));
  for (const { call } of wave)
    pass.underWay.set(call.id, settledLater(pass.ports.tools.execute(call, pass.signals.stop)));
}

/** The answer of a call that was sent while the model spoke, or that is sent or looked for now. */
export function send(
  { ports: { tools }, signals: { stop }, underWay }: Pass,
  { call, status, store }: KnownCall,
): Promise<ToolAnswer> {
  const sent = underWay.get(call.id);
  if (sent) return sent;
  return status === 'planned' ? tools.execute(call, stop) : tools.reattach({ call, store }, stop);
}

/** Its rejection is heard when the answer is asked for, and not before. */
function settledLater(answer: Promise<ToolAnswer>): Promise<ToolAnswer> {
  answer.catch(() => undefined);
  return answer;
}
