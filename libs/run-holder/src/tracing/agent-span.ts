import { createHash } from 'node:crypto';
import type { Run, CallId, RunId } from '@rondo/contract';
import type { SpanAttributes, Tracing } from '@rondo/platform';

const deriveId = (name: string): string => createHash('sha256').update(name).digest('hex').slice(0, 16);

/**
 * The ids of spans that have others below them follow from the ids of what they are about. So each process can hang its
 * spans below them without being told, at any time, and a span can be sent by another process than the one that was
 * killed at its work (docs/decisions/0098).
 */
export const creationSpanId = (run: RunId): string => deriveId(`create_run ${run}`);
export const agentSpanId = (run: RunId): string => deriveId(`invoke_agent ${run}`);
export const callSpanId = (call: CallId, attempt: number): string => deriveId(`execute_tool ${call} ${attempt}`);

/** What the spans of a run have in common. */
export const aboutRun = ({ id, thread_id }: Pick<Run, 'id' | 'thread_id'>): SpanAttributes => ({
  'gen_ai.conversation.id': thread_id,
  'rondo.run.id': id,
});

/** `provider/model` as the two that the conventions name. */
export function aboutModel(name: string): SpanAttributes {
  const slash = name.indexOf('/');
  return { 'gen_ai.provider.name': name.slice(0, slash), 'gen_ai.request.model': name.slice(slash + 1) };
}

/** The span of a whole run, from its creation to its end, as its row has it. */
export function recordAgentSpan(tracing: Tracing, run: Run): void {
  const { id, trace_id: traceId, finished_at: finishedAt } = run;
  if (traceId === null || finishedAt === null) return;
  const name = run.settings.agent.name ?? run.profile;
  const span = tracing.begin({
    name: `invoke_agent ${name}`,
    kind: 'internal',
    spanId: agentSpanId(id),
    parent: { traceId, spanId: run.parent_run_id === null ? creationSpanId(id) : agentSpanId(run.parent_run_id) },
    startedAt: Date.parse(run.created_at),
    attributes: {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': name,
      'gen_ai.agent.id': run.agent_id ?? undefined,
      'gen_ai.agent.version': run.agent_version?.toString(),
      ...aboutModel(run.model),
      ...aboutRun(run),
    },
  });
  span?.end({
    at: Date.parse(finishedAt),
    attributes: {
      'gen_ai.response.finish_reasons': [run.finish_reason ?? run.status],
      'gen_ai.usage.input_tokens': run.usage.input_tokens,
      'gen_ai.usage.output_tokens': run.usage.output_tokens,
      'gen_ai.usage.cache_read.input_tokens': run.usage.cached_tokens,
      'rondo.usage.cost_usd': run.usage.cost_usd ?? undefined,
      'rondo.run.status': run.status,
      'rondo.run.iterations': run.iteration,
    },
    ...(run.error && { error: run.error.code }),
  });
}
