import type { DispatchedCall, ToolReply } from '@rondo/messaging';
import { type SpanAttributes, type Tracing, noteTracedRun, placeOfTraceparent } from '@rondo/platform';

/** Records what this executor does for a call, below the call's own span. Arguments and results are not in it. */
export async function traceCall(
  tracing: Tracing,
  call: DispatchedCall,
  run: () => Promise<ToolReply>,
): Promise<ToolReply> {
  const parent = tracing.isOn ? placeOfTraceparent(call.traceparent) : undefined;
  if (!parent) return run();

  noteTracedRun(call.run_id, parent.traceId);
  const span = tracing.begin({ name: 'process tool_calls', kind: 'consumer', parent, attributes: aboutCall(call) });
  let how: string = 'broke';
  try {
    const reply = await run();
    how = toOutcome(reply);
    return reply;
  } finally {
    span?.end({ attributes: { 'rondo.tool.outcome': how }, ...(how !== 'completed' && { error: how }) });
  }
}

const toOutcome = (reply: ToolReply): string => {
  if (reply.how !== 'answered') return reply.how;
  return reply.result.success ? 'completed' : 'tool_failed';
};

const aboutCall = ({ call_id, run_id, thread_id, name, attempt }: DispatchedCall): SpanAttributes => ({
  'messaging.system': 'nats',
  'messaging.destination.name': 'tool_calls',
  'messaging.operation.name': 'process',
  'messaging.operation.type': 'process',
  'gen_ai.conversation.id': thread_id,
  'gen_ai.tool.name': name,
  'gen_ai.tool.call.id': call_id,
  'rondo.run.id': run_id,
  'rondo.tool.attempt': attempt,
});
