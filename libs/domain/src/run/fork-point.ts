import type { FinishReason, RecordedFact } from '@rondo/contract';
import { type RunState, evolve, initialState } from './run-state';

/** Where the log of a fork leaves that of its origin. */
export interface ForkPoint {
  /** The last fact that both share. */
  readonly seq: number;
  /** Why it is not the one that was asked for; null if it is. */
  readonly cutBack: string | null;
  /** The model has said its last word there: only a new input continues the conversation. */
  readonly needsInput: boolean;
  /** After the shared facts. */
  readonly state: RunState;
}

/** Tells the model of a fork what is not there any more. */
export const noteOfFork =
  '[This conversation goes on from an earlier one. The workspace is a new one: files that were made and processes that were ' +
  'started before are not in it. What tools have answered before is as it was then.]';

export const noteOfForkWithFiles =
  '[This conversation goes on from an earlier one. The files of the workspace are as they were then, and nothing of what was ' +
  'changed later is in them. Processes that were started before do not run. What tools have answered before is as it was then.]';

interface Walk {
  readonly state: RunState;
  readonly isStopping: boolean;
  readonly needsInput: boolean;
  readonly point: Omit<ForkPoint, 'cutBack'>;
}

/**
 * The last place at or before `atSeq` from which another run can go on: between two iterations, with every call answered
 * (I6), no summary under way, nothing that it waits for, and not stopped or over. `log` begins with the first fact.
 */
export function forkPoint(log: readonly RecordedFact[], atSeq: number): ForkPoint {
  const start = { state: initialState, isStopping: false, needsInput: true };
  const { point, state, isStopping } = log
    .filter(({ seq }) => seq <= atSeq)
    .reduce<Walk>(step, { ...start, point: { ...start, seq: 0 } });
  return {
    seq: point.seq,
    needsInput: point.needsInput,
    state: point.state,
    cutBack: point.seq === atSeq ? null : `seq ${atSeq} is ${toPlace(state, isStopping)}`,
  };
}

function step(before: Walk, fact: RecordedFact): Walk {
  const state = evolve(before.state, fact);
  const isStopping = before.isStopping || fact.type === 'run.stop_requested';
  const needsInput = needsInputAfter(before.needsInput, fact);
  const here = { seq: fact.seq, needsInput, state };
  return { state, isStopping, needsInput, point: isOpen(state, isStopping) ? before.point : here };
}

function isOpen(state: RunState, isStopping: boolean): boolean {
  const isWaiting = state.waitingSince !== undefined;
  return state.ended || isStopping || isWaiting || state.phase !== 'between' || state.compaction !== undefined;
}

function needsInputAfter(before: boolean, fact: RecordedFact): boolean {
  if (fact.type === 'iteration.completed') return !goesOn.includes(fact.data.finish_reason);
  const isSaid =
    fact.type === 'message.created' && fact.data.message.type === 'user' && fact.data.message.is_llm_message;
  return isSaid ? false : before;
}

/** The model is to read the results of its calls. */
const goesOn: readonly FinishReason[] = ['tool_calls', 'xml_tool_limit_reached'];

function toPlace(state: RunState, isStopping: boolean): string {
  const { iteration, phase } = state;
  if (state.ended) return 'the end of the run, which a fork does not share';
  if (isStopping) return 'after a stop was requested';
  if (phase === 'thinking') return `inside the reply of iteration ${iteration}`;
  if (phase === 'acting') return `inside iteration ${iteration}, whose calls are not all answered`;
  if (state.compaction) return 'while the context is summarized';
  return 'where the run waits';
}
