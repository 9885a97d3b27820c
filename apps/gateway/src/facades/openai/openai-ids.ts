import { type RecordedFact, type RunId, type ThreadId, runId, threadId } from '@rondo/contract';
import { ApiError } from '../../problems/api-error';

/** A part of a run that is one response: what follows the fact `after`, up to its end or its next question to the client. */
export interface Segment {
  readonly runId: RunId;
  readonly after: number;
}

const response = /^resp_([0-9A-Za-z]+?)(?:_([1-9]\d{0,9}))?$/;
const conversation = /^conv_([0-9A-Za-z]+)$/;
const item = /^(?:msg|rs|fc|fco|mcp|mcpr)_([0-9A-Za-z]+)_[0-9A-Za-z]+$/;

const bodyIn = (id: string): string => id.slice(id.indexOf('_') + 1);

export const toResponseId = ({ runId: id, after }: Segment): string =>
  `resp_${bodyIn(id)}${after === 0 ? '' : `_${after}`}`;

/** Throws `run_not_found` for what is no id of a response. */
export function readResponseId(id: string): Segment {
  const [, body, after = '0'] = response.exec(id) ?? [];
  const parsed = runId.safeParse(`run_${body ?? ''}`);
  if (body === undefined || !parsed.success) throw new ApiError('run_not_found', `There is no response ${id}.`);
  return { runId: parsed.data, after: Number(after) };
}

export const toConversationId = (id: ThreadId): string => `conv_${bodyIn(id)}`;

/** Throws `thread_not_found` for what is no id of a conversation. */
export function readConversationId(id: string): ThreadId {
  const [, body] = conversation.exec(id) ?? [];
  const parsed = threadId.safeParse(`thr_${body ?? ''}`);
  if (body === undefined || !parsed.success) throw new ApiError('thread_not_found', `There is no conversation ${id}.`);
  return parsed.data;
}

/** The id of an item says which run it is of, so that items which a client sends back name their thread. */
export const toItemId = (kind: 'msg' | 'rs' | 'fc' | 'fco' | 'mcp' | 'mcpr', run: RunId, inner: string): string =>
  `${kind}_${bodyIn(run)}_${bodyIn(inner)}`;

/** The run of an item that Rondo gave out. Undefined for the id of another one. */
export function findRunOfItem(id: unknown): RunId | undefined {
  const [, body] = (typeof id === 'string' && item.exec(id)) || [];
  return body === undefined ? undefined : runId.safeParse(`run_${body}`).data;
}

/** The seqs after which the responses of a run begin: 0, and each wait that is over. */
export function findSegmentStarts(facts: readonly RecordedFact[]): number[] {
  const starts = [0];
  let asked: number | undefined;
  for (const fact of facts) {
    if (fact.type === 'run.waiting' && fact.data.reason !== 'child_runs') asked = fact.seq;
    if (fact.type !== 'run.resumed' || asked === undefined) continue;
    starts.push(asked);
    asked = undefined;
  }
  return starts;
}
