import type { NewMessage } from '@rondo/contract';

/** The arguments of every call of a tool that succeeded, in the order of their results. */
export function succeededCalls(name: string, conversation: readonly NewMessage[]): Record<string, unknown>[] {
  const given = new Map<string, Record<string, unknown>>();
  const succeeded: Record<string, unknown>[] = [];
  for (const { content } of conversation) {
    for (const block of content) {
      if (block.type === 'tool_call' && block.name === name) given.set(block.tool_call_id, block.arguments);
      if (block.type !== 'tool_result' || !block.result.success) continue;
      const call = given.get(block.tool_call_id);
      if (call) succeeded.push(call);
      given.delete(block.tool_call_id);
    }
  }
  return succeeded;
}
