import type { ClaimedRun, RunQueueName } from '@rondo/domain';
import type { Span, SpanAttributes, TracePlace, Tracing } from '@rondo/platform';
import { aboutRun } from './agent-span';
import { agentSpanId } from './span-ids';

/** How long the run was in the queue before this claim. */
export function recordWait(tracing: Tracing, claim: ClaimedRun, queue: RunQueueName): void {
  const queuedAt = Date.parse(claim.queuedSince ?? '');
  if (Number.isNaN(queuedAt)) return;
  tracing
    .begin({
      name: `receive ${queue}`,
      kind: 'consumer',
      parent: placeOf(claim),
      startedAt: Math.min(queuedAt, Date.now()), // by the clock of the database
      attributes: aboutJob(claim, { queue, operation: 'receive' }),
    })
    ?.end();
}

/** From the claim until the process lets go of the run. Nothing hangs below it: a killed process loses it. */
export const startActivation = (tracing: Tracing, claim: ClaimedRun, queue: RunQueueName): Span | undefined =>
  tracing.begin({
    name: `process ${queue}`,
    kind: 'consumer',
    parent: placeOf(claim),
    attributes: aboutJob(claim, { queue, operation: 'process' }),
  });

const placeOf = ({ runId, run }: ClaimedRun): TracePlace | undefined =>
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
