import { type RecordedFact, type Run, type RunEvent, type RunId, isTerminalFact } from '@rondo/contract';
import type { ClaimedRun, RunFeed, RunQueueName } from '@rondo/domain';
import { type Span, type SpanAttributes, type TracePlace, type Tracing, noteTracedRun } from '@rondo/platform';
import { ActiveTrace, endsSpan } from './active-trace';
import { aboutRun, recordAgentSpan, agentSpanId } from './agent-span';

interface RunTracesParts {
  readonly tracing: Tracing;
  /** Undefined if the run is not traced. */
  readonly readRun: (id: RunId) => Promise<Run | undefined>;
  /** The facts that say which calls of the run were planned and sent, in order. */
  readonly readSentCalls: (run: Run) => Promise<readonly RecordedFact[]>;
  readonly failed: (error: unknown) => void;
}

/**
 * The traces of runs as one process writes them: a projection of the facts that it has committed. Nothing waits for it, and
 * what it writes of a run depends on no other process.
 */
export class RunTraces {
  /** The runs that this process has claimed; undefined for those that are not traced. */
  private readonly claimed = new Map<RunId, ActiveTrace | undefined>();
  private readonly reading = new Set<Promise<void>>();

  constructor(private readonly parts: RunTracesParts) {}

  /** To be called for each claim. What it returns is called once this process lets go of the run. */
  activated(claim: ClaimedRun, queue: RunQueueName): (outcome: string) => void {
    const { runId, run } = claim;
    const { tracing } = this.parts;
    if (run.trace_id === null) {
      this.claimed.set(runId, undefined);
      return () => this.claimed.delete(runId);
    }
    noteTracedRun(runId, run.trace_id);
    const trace = new ActiveTrace(tracing, claim, run.trace_id);
    this.claimed.set(runId, trace);
    recordWait(tracing, claim, queue);
    const span = startActivation(tracing, claim, queue);
    return (outcome) => {
      if (this.claimed.get(runId) === trace) this.claimed.delete(runId);
      span?.end({ attributes: { 'rondo.activation.outcome': outcome } });
    };
  }

  /** A feed that also writes the spans that follow from the facts. */
  following(feed: Pick<RunFeed, 'publish'>): Pick<RunFeed, 'publish'> {
    return {
      publish: (events) => {
        feed.publish(events);
        this.note(events);
      },
    };
  }

  note(events: readonly RunEvent[]): void {
    for (const event of events) {
      if (event.seq === null) continue;
      const { run_id: id } = event;
      const trace = this.claimed.get(id);
      if (trace) trace.note(event);
      else if (this.claimed.has(id))
        continue; // it is not traced
      else if (endsSpan(event)) this.record(id, (run) => this.noteUnheld(run, event));
      if (isTerminalFact(event)) this.record(id, (run) => recordAgentSpan(this.parts.tracing, run));
    }
  }

  /** A call that ends while no process holds its run: a caller, a person or a child run has answered it. */
  private async noteUnheld(run: Run, fact: RecordedFact): Promise<void> {
    const { tracing, readSentCalls } = this.parts;
    if (run.trace_id !== null)
      new ActiveTrace(tracing, { run, log: await readSentCalls(run) }, run.trace_id).note(fact);
  }

  /** Resolves when every span is written that follows from facts so far. */
  async waitForSpans(): Promise<void> {
    await Promise.all(this.reading);
  }

  private record(id: RunId, write: (run: Run) => void | Promise<void>): void {
    const { readRun, failed } = this.parts;
    const recorded = readRun(id)
      .then((run) => run && write(run))
      .catch(failed)
      .finally(() => this.reading.delete(recorded));
    this.reading.add(recorded);
  }
}

/** How long the run was in the queue before this claim. */
function recordWait(tracing: Tracing, claim: ClaimedRun, queue: RunQueueName): void {
  const queuedAt = Date.parse(claim.queuedSince ?? '');
  if (Number.isNaN(queuedAt)) return;
  tracing
    .begin({
      name: `receive ${queue}`,
      kind: 'consumer',
      parent: findPlace(claim),
      startedAt: Math.min(queuedAt, Date.now()), // by the clock of the database
      attributes: aboutJob(claim, { queue, operation: 'receive' }),
    })
    ?.end();
}

/** From the claim until the process lets go of the run. Nothing hangs below it: a killed process loses it. */
const startActivation = (tracing: Tracing, claim: ClaimedRun, queue: RunQueueName): Span | undefined =>
  tracing.begin({
    name: `process ${queue}`,
    kind: 'consumer',
    parent: findPlace(claim),
    attributes: aboutJob(claim, { queue, operation: 'process' }),
  });

const findPlace = ({ runId, run }: ClaimedRun): TracePlace | undefined =>
  run.trace_id === null ? undefined : { traceId: run.trace_id, spanId: agentSpanId(runId) };

const aboutJob = (
  { run, epoch }: ClaimedRun,
  { queue, operation }: { queue: RunQueueName; operation: 'receive' | 'process' },
): SpanAttributes => ({
  'messaging.system': 'bullmq',
  'messaging.destination.name': queue,
  'messaging.operation.name': operation,
  'messaging.operation.type': operation,
  ...aboutRun(run),
  'rondo.run.epoch': epoch,
});

type Publishes = Pick<RunFeed, 'publish'>;

/** The traces of a process that claims runs of one queue, written from what it publishes. While tracing is off, nothing is. */
export function composeRunTraces(
  feed: Publishes,
  { queue, ...parts }: RunTracesParts & { readonly queue: RunQueueName },
) {
  const { tracing } = parts;
  if (!tracing.isOn) return { feed, activated: undefined, close: () => tracing.close() };
  const traces = new RunTraces(parts);
  return {
    feed: traces.following(feed),
    activated: (claim: ClaimedRun) => traces.activated(claim, queue),
    close: async () => {
      await traces.waitForSpans();
      await tracing.close();
    },
  };
}
