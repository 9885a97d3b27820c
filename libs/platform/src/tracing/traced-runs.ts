import { LruCache } from '../lru-cache';

const rememberedRuns = 10_000;

/** The traces of the runs that this process has lately worked on. Empty while tracing is off. */
const traces = new LruCache<string, string>(rememberedRuns);
let areSome = false;

/** From now on, log lines with this `runId` have its `trace_id`. */
export function noteTracedRun(runId: string, traceId: string): void {
  traces.set(runId, traceId);
  areSome = true;
}

/** What the logger adds to a line: a new object each time, since it copies the line's fields into it. */
export function traceOfLine(fields: object): object {
  if (!areSome || !('runId' in fields) || typeof fields.runId !== 'string') return {};
  const trace_id = traces.get(fields.runId);
  return trace_id === undefined ? {} : { trace_id };
}
