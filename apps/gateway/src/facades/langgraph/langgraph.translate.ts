import type { FinishReason, RecordedFact, Run } from '@rondo/contract';
import type { LangGraphStreamMode } from '@rondo/contract/api';
import { type SubscriberEvent, isNotice } from '../../live/stream-notices';
import { type Position, type PositionedEvent, PositionedReader, writePosition } from '../positions';
import { isSilent } from '../silent-facts';
import {
  type GraphInterrupt,
  type GraphMessage,
  type MessageState,
  toCallsChunk,
  toInterrupts,
  toTextChunk,
} from './langgraph.messages';

/** An event of a stream. Its id says where in the log it is, so that `Last-Event-ID` resumes after it at any gateway. */
export interface Frame {
  readonly event: string;
  readonly id: string;
  readonly data: unknown;
}

export interface GraphError {
  readonly error: string;
  readonly message: string;
}

/** How a request ended that began a run, or went on with one. */
export type Ending =
  | { readonly status: 'success' }
  | { readonly status: 'interrupted'; readonly interrupts: readonly GraphInterrupt[] }
  | { readonly status: 'error'; readonly error: GraphError };

/** A part of a run: from its input, or from the answer to what it waited for, to its end or the next wait. */
export interface Segment {
  readonly runId: Run['id'];
  /** The seq of the last fact before it. */
  readonly after: number;
}

export interface TranslatorOptions {
  readonly segment: Segment;
  /** The names that the client knows. */
  readonly runName: string;
  readonly threadName: string;
  readonly modes: ReadonlySet<LangGraphStreamMode>;
  /** What the client has. `place` is 1. */
  readonly from: Position;
}

export const beginning: Position = { place: 1, seq: 0, units: 0 };

type Fact<Type extends RecordedFact['type']> = Extract<RecordedFact, { type: Type }>;
type Shown = Pick<Frame, 'event' | 'data'> & { readonly mode: LangGraphStreamMode | 'end' };

/**
 * What a client of LangGraph sees of a segment of a run: facts and deltas in, frames out, without I/O and without a clock. It has
 * to see the run from its first fact, with the thread's earlier messages in `state`; frames that the client has are left out. The
 * frames of one fact are numbered over all modes, so an id means the same in each of them.
 */
export class LangGraphTranslator {
  /** Absent while what the client has is read. */
  private reader: PositionedReader | undefined;
  /** The seq of the last fact before what is to be shown, or of the one of which the client has a part. */
  private readonly known: number;
  private step = 0;
  private over: Ending | undefined;

  constructor(
    private readonly options: TranslatorOptions,
    private readonly state: MessageState,
  ) {
    const { segment, from } = options;
    this.known = Math.max(segment.after, from.seq);
    if (this.known === 0) this.reader = new PositionedReader(from);
  }

  /** Undefined while the segment is not over. */
  get ending(): Ending | undefined {
    return this.over;
  }

  get messages(): readonly GraphMessage[] {
    return this.state.messages;
  }

  translate(event: SubscriberEvent): Frame[] {
    if (this.over) return [];
    if (isNotice(event)) return this.breakOff();
    if (event.seq !== null && event.seq <= this.known) return this.passFact(event);
    return this.reader?.read(event).flatMap((each) => this.show(each)) ?? [];
  }

  private passFact(fact: RecordedFact): Frame[] {
    const { segment, from } = this.options;
    const isOwn = fact.seq > segment.after;
    const shown = this.readFact(fact, isOwn);
    if (fact.seq < this.known) return [];
    this.reader = new PositionedReader(isOwn ? from : { place: 1, seq: segment.after, units: 0 });
    return isOwn ? this.toFrames(shown, fact.seq) : [];
  }

  private show(event: PositionedEvent): Frame[] {
    if (this.over || event.type === 'notice') return [];
    if (event.type === 'fact') return this.toFrames(this.readFact(event.fact, true), event.fact.seq);
    const chunk = toTextChunk(event.messageId, event.type, event.text);
    return this.keepWanted([this.toMessages('agent', chunk)], () => event.position);
  }

  /** A frame for each, without those that the client has. */
  private toFrames(shown: readonly Shown[], seq: number): Frame[] {
    const { from } = this.options;
    const first = seq === from.seq ? from.units + 1 : 0;
    return this.keepWanted(shown.slice(first), (index) => ({ place: 1, seq, units: first + index }));
  }

  private keepWanted(shown: readonly Shown[], toPosition: (index: number) => Position): Frame[] {
    return shown.flatMap(({ event, data, mode }, index) => {
      const isWanted = mode === 'end' || this.options.modes.has(mode);
      return isWanted ? [{ event, data, id: writePosition(toPosition(index)) }] : [];
    });
  }

  private readFact(fact: RecordedFact, isOwn: boolean): Shown[] {
    if (isSilent(fact)) return [];
    switch (fact.type) {
      case 'iteration.started':
        this.step = fact.data.iteration;
        return [];
      case 'iteration.restarted':
        return [this.toValues()]; // the text that was withdrawn is not in it
      case 'message.created':
        return this.showMessage(fact);
      case 'run.waiting':
        return isOwn ? this.wait(fact) : [];
      case 'run.completed':
        return this.complete(fact.data.finish_reason);
      case 'run.stopped':
        return this.end({ status: 'interrupted', interrupts: [] });
      case 'run.failed':
        return this.end({ status: 'error', error: toGraphError(fact.data.error) });
      case 'run.started':
      case 'run.resumed':
      case 'run.stop_requested':
      case 'iteration.completed':
      case 'model.retried':
      case 'model.fell_back':
      case 'usage.recorded':
      case 'tool.planned':
      case 'tool.started':
      case 'tool.completed':
      case 'tool.failed':
      case 'tool.unknown':
      case 'approval.requested':
      case 'approval.decided':
      case 'context.compacted':
        return [];
    }
  }

  private showMessage({ data: { message } }: Fact<'message.created'>): Shown[] {
    const added = this.state.add(message);
    if (added.length === 0) return [];
    const node = message.type === 'tool' || added[0]?.type === 'tool' ? 'tools' : 'agent';
    if (message.type === 'user' && node === 'agent') return [this.toValues()];
    const parts = added.flatMap((each) => this.toWholeMessages(message.type, each));
    const owner = added[0]?.type === 'ai' ? 'agent' : node;
    const updates: Shown = { event: 'updates', mode: 'updates', data: { [owner]: { messages: added } } };
    return [...parts, updates, this.toValues()];
  }

  /** What no chunk of text has shown of a message. */
  private toWholeMessages(type: string, message: GraphMessage): Shown[] {
    if (message.type === 'tool') return [this.toMessages('tools', message)];
    if (message.type !== 'ai') return [];
    if (type === 'tool') return [this.toMessages('agent', message)]; // the words of `complete`
    const calls = message['tool_calls'];
    return Array.isArray(calls) && calls.length > 0 ? [this.toMessages('agent', toCallsChunk(message))] : [];
  }

  private toMessages(node: 'agent' | 'tools', message: GraphMessage): Shown {
    const { runName: run_id, threadName: thread_id } = this.options;
    const about = { tags: [], langgraph_node: node, langgraph_step: this.step, run_id, thread_id };
    return { event: 'messages', mode: 'messages-tuple', data: [message, about] };
  }

  private toValues(more: object = {}): Shown {
    return { event: 'values', mode: 'values', data: { messages: [...this.state.messages], ...more } };
  }

  private wait({ run_id: runId, data }: Fact<'run.waiting'>): Shown[] {
    if (data.reason === 'child_runs') return [];
    const interrupts = toInterrupts(data, runId, this.state);
    const asked = { __interrupt__: interrupts };
    const updates: Shown = { event: 'updates', mode: 'updates', data: asked };
    return [updates, this.toValues(asked), ...this.end({ status: 'interrupted', interrupts })];
  }

  private complete(reason: FinishReason): Shown[] {
    const error = findLimitError(reason);
    return this.end(error ? { status: 'error', error } : { status: 'success' });
  }

  /** Facts were deleted. A stream never goes on without them. */
  private breakOff(): Frame[] {
    const { from } = this.options;
    const error = {
      error: 'log_trimmed',
      message: 'Events of this run have been deleted: read the state of the thread.',
    };
    return this.keepWanted(this.end({ status: 'error', error }), () => from);
  }

  /** An error is the last frame of its stream; any other end is a frame of its own. */
  private end(ending: Ending): Shown[] {
    this.over = ending;
    if (ending.status === 'error') return [{ event: 'error', mode: 'end', data: ending.error }];
    const { runName: run_id } = this.options;
    return [{ event: 'end', mode: 'end', data: { run_id, status: ending.status } }];
  }
}

/** The first frame of a stream. None for a client that has it. */
export function openStream({ runName: run_id, threadName: thread_id, from, segment }: TranslatorOptions): Frame[] {
  if (from.seq > segment.after || from.units > 0) return [];
  const id = writePosition({ place: 1, seq: segment.after, units: 1 }); // no text follows on that fact
  return [{ event: 'metadata', id, data: { run_id, attempt: 1, thread_id } }];
}

const toGraphError = ({ code, message }: { readonly code: string; readonly message: string }): GraphError => ({
  error: code,
  message,
});

/** Ends that are a limit of the run, which LangGraph has as errors. */
const limits: Partial<Record<FinishReason, GraphError>> = {
  max_iterations: { error: 'GraphRecursionError', message: 'The run has reached its limit of iterations.' },
  budget_exceeded: { error: 'budget_exceeded', message: 'The run has reached its budget.' },
  loop_detected: { error: 'loop_detected', message: 'The run made the same calls again and again.' },
};

/** Undefined for an end that is none. */
export const findLimitError = (reason: FinishReason | null): GraphError | undefined =>
  reason === null ? undefined : limits[reason];

const segmentId = /^(run_[0-9A-Za-z]{1,48})(?:\.([1-9]\d{0,9}))?$/;

/** The first segment has the id of its run; later ones also say after which fact they begin. */
export const toSegmentName = ({ runId, after }: Segment): string => (after === 0 ? runId : `${runId}.${after}`);

/** Undefined for what is no id of a segment. */
export function readSegmentName(name: string): { readonly runId: string; readonly after: number } | undefined {
  const [, runId, after = '0'] = segmentId.exec(name) ?? [];
  return runId === undefined ? undefined : { runId, after: Number(after) };
}
