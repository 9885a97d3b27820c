import type { Fact, FactWithType } from '@rondo/client';

/** What took a part of the time of a run. */
export interface Span {
  readonly id: string;
  /** `queue`: before its first claim. `wait`: for a person, its caller, other runs, a budget, or another attempt. */
  readonly kind: 'queue' | 'model' | 'tool' | 'wait' | 'summary';
  readonly name: string;
  /** In milliseconds since the run was created. */
  readonly from: number;
  /** Null while it goes on. */
  readonly to: number | null;
  /** The tokens of a model call, or why something ended otherwise than well. */
  readonly note: string | null;
}

const waits: Readonly<Partial<Record<string, string>>> = {
  ask: 'for an answer',
  approval: 'for an approval',
  budget: 'for a budget',
  tool_unknown: 'for a ruling on a call',
  child_runs: 'for other runs',
  caller_tools: 'for its caller',
};

/**
 * The parts of a run's time, in the order in which they began, from its facts alone. A model call has the duration that was
 * measured, from when it was due; everything else lasts from one fact to another. What is open when the run ends, ends with it.
 */
export function toSpans(facts: readonly Fact[]): readonly Span[] {
  const builder = new SpanBuilder();
  for (const fact of facts) builder.add(fact);
  return builder.spans();
}

class SpanBuilder {
  private readonly all: Span[] = [];
  private readonly open = new Map<string, number>();
  /** The model call of the iteration whose usage is not recorded yet. */
  private unmeasured: number | undefined;
  private startedAt = 0;

  spans(): readonly Span[] {
    return [...this.all].sort((a, b) => a.from - b.from);
  }

  add(fact: Fact): void {
    if (fact.type === 'run.created') this.startedAt = Date.parse(fact.at);
    const at = Date.parse(fact.at) - this.startedAt;
    switch (fact.type) {
      case 'run.created':
        this.begin('queue', { kind: 'queue', name: 'Queued', from: at });
        break;
      case 'run.started':
        this.end('queue', at);
        break;
      case 'run.waiting':
        this.begin('wait', { kind: 'wait', name: `Waits ${waits[fact.data.reason] ?? ''}`.trim(), from: at });
        break;
      case 'run.resumed':
      case 'run.stop_requested':
        this.end('wait', at);
        break;
      case 'run.stopped':
        this.end('queue', at, fact.data.reason);
        this.endAll(at);
        break;
      case 'run.completed':
      case 'run.failed':
        this.endAll(at);
        break;
      default:
        this.addWork(fact, at);
        break;
    }
  }

  private addWork(fact: Fact, at: number): void {
    switch (fact.type) {
      case 'iteration.started':
        this.ask(at);
        break;
      case 'iteration.restarted':
        this.endAll(at, 'begun again');
        if (fact.data.retry) this.retry({ id: fact.id, data: fact.data.retry }, at);
        else this.ask(at);
        break;
      case 'usage.recorded':
        this.modelCall(fact, at);
        break;
      case 'message.created':
        if (fact.data.message.type === 'assistant') this.end('model', at);
        break;
      case 'iteration.completed':
        this.end('model', at);
        this.unmeasured = undefined;
        break;
      case 'model.retried':
        this.retry(fact, at);
        break;
      case 'model.fell_back':
        this.end('model', at, fact.data.error.message);
        this.ask(at);
        break;
      case 'tool.started':
        this.begin(fact.data.tool_call_id, { kind: 'tool', name: fact.data.name, from: at });
        break;
      case 'tool.completed':
        this.end(fact.data.tool_call_id, at);
        break;
      case 'tool.failed':
        this.end(fact.data.tool_call_id, at, 'failed');
        break;
      case 'tool.unknown':
        this.end(fact.data.tool_call_id, at, 'outcome unknown');
        break;
      case 'context.compaction_started':
        this.begin('summary', { kind: 'summary', name: 'Summary of the context', from: at });
        break;
      case 'context.compacted':
        this.end('summary', at);
        break;
      case 'context.compaction_failed':
        this.end('summary', at, 'failed');
        break;
      default:
        break;
    }
  }

  private ask(from: number): void {
    this.begin('model', { kind: 'model', name: 'Model', from });
    this.unmeasured = this.all.length - 1;
  }

  /** It may be recorded long after it ended, with what the tools of its reply do. A summary is asked for outside of an iteration. */
  private modelCall({ id, data }: FactWithType<'usage.recorded'>, at: number): void {
    const tokens = `${data.input_tokens} tokens in, ${data.output_tokens} out`;
    const note = data.error ? `${data.error.message} · ${tokens}` : tokens;
    const place = this.unmeasured ?? this.all.length;
    const from = this.all[place]?.from ?? Math.max(0, at - data.duration_ms);
    this.all[place] = { id, kind: 'model', name: data.model, from, to: Math.min(at, from + data.duration_ms), note };
    this.open.delete('model');
    this.unmeasured = undefined;
  }

  private retry({ id, data }: Pick<FactWithType<'model.retried'>, 'id' | 'data'>, at: number): void {
    const to = at + data.delay_ms;
    this.end('model', at, data.error.message);
    this.all.push({ id, kind: 'wait', name: 'Asks the model again', from: at, to, note: data.error.message });
    this.ask(to);
  }

  private begin(key: string, span: Pick<Span, 'kind' | 'name' | 'from'>): void {
    this.open.set(key, this.all.length);
    this.all.push({ ...span, id: `${key} ${this.all.length}`, to: null, note: null });
  }

  private end(key: string, to: number, note: string | null = null): void {
    const place = this.open.get(key);
    const span = place === undefined ? undefined : this.all[place];
    if (place !== undefined && span) this.all[place] = { ...span, to, note };
    this.open.delete(key);
  }

  private endAll(to: number, note: string | null = null): void {
    for (const key of [...this.open.keys()]) this.end(key, to, note);
  }
}

/** The end of the newest part, or of the run so far, in milliseconds. */
export const findEnd = (spans: readonly Span[], now: number): number =>
  Math.max(1, ...spans.map(({ to }) => to ?? now));

/** How long the parts of each kind took together; parts that overlap count once each. */
export function sumKinds(spans: readonly Span[], now: number): ReadonlyMap<Span['kind'], number> {
  const sums = new Map<Span['kind'], number>();
  for (const { kind, from, to } of spans) sums.set(kind, (sums.get(kind) ?? 0) + Math.max(0, (to ?? now) - from));
  return sums;
}
