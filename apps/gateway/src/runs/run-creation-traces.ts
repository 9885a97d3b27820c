import { type Run, type RunId, runId } from '@rondo/contract';
import { type Tracing, newUlid, placeOfTraceparent } from '@rondo/platform';
import { aboutRun, creationSpanId, RunTraces } from '@rondo/run-holder';
import { type Database, readSentCalls, readTracedRun } from '@rondo/persistence';

export interface CreationTrace {
  /** The run must get this id: its spans are named after it. */
  readonly runId: RunId;
  readonly traceId: string;
  recordRun(run: Run): void;
}

/** Decides whether a run is traced, once and for all processes, and records how it was created. */
export class RunCreationTraces {
  constructor(private readonly tracing: Tracing) {}

  /**
   * `traceparent` is the header of the request, if it has one: the run joins that trace. Undefined if the run is not traced.
   * If the run is not created, nothing is recorded.
   */
  begin(given: {
    readonly id?: RunId | undefined;
    readonly traceparent?: string | undefined;
  }): CreationTrace | undefined {
    const id = given.id ?? runId.parse(`run_${newUlid()}`);
    const span = this.tracing.begin({
      name: 'create_run',
      kind: 'producer',
      spanId: creationSpanId(id),
      parent: placeOfTraceparent(given.traceparent),
    });
    return (
      span && {
        runId: id,
        traceId: span.place.traceId,
        recordRun: (run) => span.end({ attributes: { ...aboutRun(run), 'rondo.run.status': run.status } }),
      }
    );
  }
}

/** What the gateway writes of the traces of runs: how they were created, and the end of runs and calls that it ends itself. */
export function composeTraces(database: Database, tracing: Tracing, failed: (error: unknown) => void) {
  const runTraces = new RunTraces({
    tracing,
    readRun: (id) => readTracedRun(database, id),
    readSentCalls: (run) => readSentCalls(database, run),
    failed,
  });
  return {
    ...(tracing.isOn && { creationTraces: new RunCreationTraces(tracing), runTraces }),
    closeTraces: async () => {
      await runTraces.waitForSpans();
      await tracing.close();
    },
  };
}
