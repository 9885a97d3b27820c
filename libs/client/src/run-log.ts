import { MissingFactsError } from './errors.ts';
import { type Delta, isDelta, isFact, isNotice, isTerminal } from './event-kinds.ts';
import type { Fact, RunSnapshot, StreamEvent, StreamGap, StreamRewound } from './generated/api.ts';
import { OpenTexts, extendText } from './open-texts.ts';
import { type RowChange, rowChange } from './row-changes.ts';
import { type RunRow, type RunView, emptyView, messageRow } from './run-view.ts';
import { statusChanges } from './status-changes.ts';

/**
 * Reduces the events of a run to a view of it. Events may arrive in any number of pieces, again, or with texts from their
 * beginning, as a new connection sends them: the view is the same. A fact supersedes its deltas, so the facts alone lead to
 * the same view once nothing is being written.
 */
export class RunLog {
  private rows: RunRow[] = [];
  /** The facts of the view, for when it must be made anew without the last of them. */
  private facts: Fact[] = [];
  private readonly places = new Map<string, number>();
  private readonly open = new OpenTexts();
  /** Changed in place: to copy it with each fact would take longer than the rest. */
  private state: { -readonly [Name in keyof RunView]: RunView[Name] };
  private shown: RunView | undefined;
  private epoch = 0;

  /** `after`: the facts up to this seq will not come, as in a stream that begins after them. */
  constructor(private readonly after = 0) {
    this.state = { ...emptyView, lastSeq: after };
  }

  /** Whether the event changed something. Throws a MissingFactsError if facts before it are missing. */
  apply(event: StreamEvent): boolean {
    const isChanged = this.reduce(event);
    if (isChanged) this.shown = undefined;
    return isChanged;
  }

  get lastSeq(): number {
    return this.state.lastSeq;
  }

  /** The epoch of the last fact. */
  get lastEpoch(): number {
    return this.epoch;
  }

  get view(): RunView {
    this.shown ??= { ...this.state, rows: [...this.rows, ...this.open.rows()] };
    return this.shown;
  }

  private reduce(event: StreamEvent): boolean {
    if (isDelta(event)) return this.append(event);
    if (isFact(event)) return this.record(event);
    if (!isNotice(event)) return false; // of a newer gateway
    if (event.type === 'stream.rewound') return this.rewind(event);
    return event.type === 'stream.gap' ? this.skip(event.data) : this.restore(event.data);
  }

  private record(fact: Fact): boolean {
    const { lastSeq } = this.state;
    if (fact.seq <= lastSeq) return false;
    if (fact.seq !== lastSeq + 1) throw new MissingFactsError(lastSeq + 1, fact.seq);

    this.facts.push(fact);
    this.epoch = fact.epoch;
    for (const streamId of listSuperseded(fact)) this.open.close(streamId, fact.seq);
    this.change(rowChange(fact));
    const { state } = this;
    Object.assign(state, statusChanges(state, fact));
    state.runId = fact.run_id;
    state.threadId = fact.thread_id;
    state.iteration = fact.iteration;
    state.lastSeq = fact.seq;
    if (isTerminal(fact)) this.open.clear();
    return true;
  }

  private change(change: RowChange | undefined): void {
    if (!change) return;
    const place = this.places.get(change.id) ?? this.rows.length;
    const before = this.rows[place];
    const row = before ? change.update(before) : change.add;
    if (!row) return;
    this.places.set(change.id, place);
    this.rows[place] = row;
  }

  private append(delta: Delta): boolean {
    if (this.state.isOver || this.open.isOutOfDate(delta)) return false;
    if (delta.type !== 'tool.output') return this.open.append(delta);
    const place = this.places.get(delta.stream_id);
    const row = place === undefined ? undefined : this.rows[place];
    if (place === undefined || row?.kind !== 'tool_call' || row.status !== 'dispatched') return false;
    const output = extendText(row.output, delta);
    if (output === undefined) return false;
    this.rows[place] = { ...row, output };
    return true;
  }

  /** Forgets the facts from there on, which are not in the log any more. */
  private rewind({ epoch, data: { from } }: StreamRewound): boolean {
    this.epoch = epoch;
    if (from > this.state.lastSeq) return false;
    const kept = this.facts.filter(({ seq }) => seq < from);
    this.facts = [];
    this.rows = [];
    this.places.clear();
    this.open.clear();
    this.state = { ...emptyView, lastSeq: kept[0] ? kept[0].seq - 1 : Math.min(this.after, from - 1) };
    for (const fact of kept) this.record(fact);
    this.epoch = epoch;
    return true;
  }

  private skip(gap: StreamGap['data']): boolean {
    if (gap.to <= this.state.lastSeq) return false;
    this.state = { ...this.state, gap, lastSeq: gap.to };
    return true;
  }

  /** In place of the deleted facts. */
  private restore({ run, messages }: RunSnapshot): boolean {
    if (this.state.runId !== null) return false;
    const { id: runId, thread_id: threadId, status, iteration } = run;
    this.state = { ...this.state, runId, threadId, status, iteration, waiting: run.waiting, usage: run.usage };
    for (const message of messages) this.change({ id: message.id, add: messageRow(message), update: (row) => row });
    return true;
  }
}

/** The streams whose texts the fact contains or withdraws, or begins anew: another attempt prints from the beginning. */
function listSuperseded(fact: Fact): readonly string[] {
  if (fact.type === 'message.created') return [fact.data.message.id];
  if (fact.type === 'tool.planned') return [fact.data.tool_call.id];
  if (fact.type === 'tool.started') return [fact.data.tool_call_id];
  return fact.type === 'iteration.restarted' ? fact.data.withdrawn_stream_ids : [];
}
