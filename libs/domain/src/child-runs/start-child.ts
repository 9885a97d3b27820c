import type { ToolCall } from '@rondo/contract';
import type { LoopContext } from '../loop-context';

/** Starts or finds the run of a call. Resolves to why there is none, if it was refused. */
export async function startChild(loop: LoopContext, call: ToolCall): Promise<string | undefined> {
  const { children } = loop.ports;
  if (!children) return 'This run cannot start other runs.';
  const started = await children.start(call);
  if (started.how === 'refused') return started.reason;
  loop.childRuns.set(call.id, started.child);
  return undefined;
}
