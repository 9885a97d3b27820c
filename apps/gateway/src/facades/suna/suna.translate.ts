import type { DeltaEvent, FactWithType, RecordedFact, RunEvent } from '@rondo/contract';
import { deltaText, toStream } from '@rondo/domain';
import { type SubscriberEvent, isNotice } from '../../live/stream-notices';
import { type AnsweredCall, describeShortEnd, describeWait, readAnsweredCall } from '../run-answer';
import { isSilent } from '../silent-facts';
import { type RowParts, toContent, toResult, toResultId, toSunaRow } from './suna.rows';

/** A line of the stream. Those that end it have another form than rows. */
export type Line = string;

/** Clients compare the whole text of it. */
const completed: Line = '{"type": "status", "status": "completed", "message": "Agent run completed successfully"}';
const toEnd = (status: 'error' | 'stopped', message: string): Line =>
  JSON.stringify({ type: 'status', status, message });

/** What a wait is shown as, unless it was ended since. */
interface Wait {
  readonly lines: readonly Line[];
  readonly isEnd: boolean;
}

/**
 * Turns the events of a run, in their order, into lines of Suna. A stream begins with the first event and cannot be resumed, so
 * rows are numbered as they come. `lastSeq` is that of the newest fact when the stream began: waits before it may be over.
 */
export class SunaTranslator {
  private sequence = 0;
  private hasBegun = false;
  private wait: Wait | undefined;
  private readonly sent = new Map<string, number>();
  private readonly indexes = new Map<string, number>();
  /** Nothing follows. */
  isOver = false;

  constructor(private readonly lastSeq: number) {}

  translate(event: SubscriberEvent): Line[] {
    if (this.isOver || event.type === 'stream.snapshot') return [];
    if (isNotice(event))
      return this.end(toEnd('error', 'Events of this run have been deleted, so it cannot be shown.'));
    if (event.seq === null) return event.type === 'message.delta' ? this.showPiece(event) : [];
    if (event.type === 'run.resumed') this.wait = undefined;
    const lines = this.translateFact(event);
    return event.seq < this.lastSeq ? lines : [...lines, ...this.showWait()];
  }

  private translateFact(fact: RecordedFact): Line[] {
    if (isSilent(fact)) return [];
    switch (fact.type) {
      case 'run.started':
        return this.begin(fact);
      case 'iteration.started':
        return [this.state(fact, { status_type: 'assistant_response_start' })];
      case 'iteration.restarted':
        return this.withdraw(fact.data.withdrawn_stream_ids);
      case 'message.created':
        return this.showMessage(fact);
      case 'tool.planned':
        return this.plan(fact);
      case 'tool.completed':
      case 'tool.failed':
      case 'tool.unknown':
        return this.showResult(fact, readAnsweredCall(fact));
      case 'iteration.completed':
        return [this.state(fact, { status_type: 'finish', finish_reason: fact.data.finish_reason })];
      case 'run.waiting':
        this.wait = this.readWait(fact);
        return [];
      case 'run.completed':
        return this.complete(fact);
      case 'run.stopped':
        return this.end(...this.endRun(fact), toEnd('stopped', fact.data.reason ?? 'Agent run stopped'));
      case 'run.failed':
        return this.fail(fact, fact.data.error.message);
      case 'run.resumed':
      case 'run.stop_requested':
      case 'model.retried':
      case 'model.fell_back':
      case 'usage.recorded':
      case 'tool.started':
      case 'approval.requested':
      case 'approval.decided':
      case 'context.compacted':
        return [];
    }
  }

  private begin(fact: FactWithType<'run.started'>): Line[] {
    if (this.hasBegun) return [];
    this.hasBegun = true;
    return [this.state(fact, { status_type: 'thread_run_start', thread_run_id: fact.run_id })];
  }

  /** No line can say so: what is said anew is shown again, and the whole message replaces it. */
  private withdraw(ids: readonly string[]): Line[] {
    for (const id of ids) this.sent.delete(toStream({ type: 'message.delta', stream_id: id }));
    return [];
  }

  /** What no delta has brought comes with the whole message, which replaces the pieces. */
  private showPiece(delta: DeltaEvent): Line[] {
    const stream = toStream(delta);
    const shown = this.sent.get(stream) ?? 0;
    const text = delta.offset > shown ? '' : deltaText(delta).slice(shown - delta.offset);
    if (text === '') return [];
    this.sent.set(stream, shown + text.length);
    const content = { role: 'assistant', content: text };
    return [
      this.row(delta, { type: 'assistant', is_llm_message: true, content, metadata: { stream_status: 'chunk' } }),
    ];
  }

  private showMessage(fact: FactWithType<'message.created'>): Line[] {
    const { message } = fact.data;
    if (message.type !== 'assistant') return [];
    const parts = { message_id: message.id, type: 'assistant', is_llm_message: true, content: toContent(message) };
    return [this.row(fact, { ...parts, metadata: { stream_status: 'complete' } })];
  }

  private plan(fact: FactWithType<'tool.planned'>): Line[] {
    const { id, name, arguments: given } = fact.data.tool_call;
    this.indexes.set(id, this.indexes.size);
    const about = { ...this.describeCall(id, name), arguments: given };
    return [this.state(fact, { role: 'assistant', status_type: 'tool_started', ...about })];
  }

  private showResult(fact: RecordedFact, call: AnsweredCall | undefined): Line[] {
    if (!call) return [];
    const { tool_call_id: id, name, result } = call;
    const row = {
      message_id: toResultId(call),
      type: 'tool',
      is_llm_message: true,
      content: toResult(call),
      metadata: {},
    };
    const statusType = result.success ? 'tool_completed' : 'tool_failed';
    const about = { role: 'assistant', status_type: statusType, ...this.describeCall(id, name) };
    return [this.row(fact, row), this.state(fact, about)];
  }

  private describeCall = (id: string, name: string): object => ({
    function_name: name,
    xml_tag_name: null,
    tool_call_id: id,
    tool_index: this.indexes.get(id) ?? null,
  });

  /** A question ends the stream. What only others can end is said, and the stream stays open. */
  private readWait(fact: FactWithType<'run.waiting'>): Wait {
    const { reason } = fact.data;
    if (reason === 'ask') return { lines: [...this.endRun(fact), completed], isEnd: true };
    if (reason === 'child_runs') return { lines: [], isEnd: false };
    const content = { role: 'assistant', content: describeWait(fact.data) };
    const parts = { message_id: fact.id, type: 'assistant', is_llm_message: false, content };
    return { lines: [this.row(fact, { ...parts, metadata: { stream_status: 'complete' } })], isEnd: false };
  }

  private showWait(): Line[] {
    const { wait } = this;
    this.wait = undefined;
    this.isOver ||= wait?.isEnd ?? false;
    return [...(wait?.lines ?? [])];
  }

  private complete(fact: FactWithType<'run.completed'>): Line[] {
    const why = describeShortEnd(fact.data.finish_reason);
    return why === undefined ? this.end(...this.endRun(fact), completed) : this.fail(fact, why);
  }

  private fail(fact: RecordedFact, message: string): Line[] {
    return this.end(this.state(fact, { status_type: 'error', message }), toEnd('error', message));
  }

  private endRun = (fact: RecordedFact): Line[] => [this.state(fact, { status_type: 'thread_run_end' })];

  private end(...lines: Line[]): Line[] {
    this.isOver = true;
    return lines;
  }

  private state(event: RunEvent, content: object): Line {
    return this.row(event, { type: 'status', is_llm_message: false, content, metadata: {} });
  }

  private row(
    event: RunEvent,
    { metadata, ...parts }: Omit<RowParts, 'message_id' | 'thread_id' | 'at'> & Partial<RowParts>,
  ): Line {
    const { thread_id, run_id: runId, at } = event;
    const row = toSunaRow({
      message_id: null,
      ...parts,
      metadata: { ...metadata, thread_run_id: runId },
      thread_id,
      at,
    });
    return JSON.stringify({ sequence: (this.sequence += 1), ...row });
  }
}
