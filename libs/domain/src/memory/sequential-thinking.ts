import type { z } from 'zod';
import type { NewMessage, ToolResult } from '@rondo/contract';
import { sequentialThinking } from '../tools/memory.tools';
import { succeededCalls } from './past-calls';

type Thought = z.infer<typeof sequentialThinking.input>;

/** Reports the model's position in its sequence of thoughts, which belongs to one run. */
export function recordThought(thought: Thought, ofRun: readonly NewMessage[]): ToolResult {
  const earlier = succeededCalls(sequentialThinking.name, ofRun).flatMap((given) => {
    const parsed = sequentialThinking.input.safeParse(given);
    return parsed.success ? [parsed.data] : [];
  });
  const all = [...earlier, thought];
  const output = {
    thoughtNumber: thought.thoughtNumber,
    totalThoughts: Math.max(thought.totalThoughts, thought.thoughtNumber),
    nextThoughtNeeded: thought.nextThoughtNeeded,
    branches: [...new Set(all.flatMap(branchOf))],
    thoughtHistoryLength: all.length,
  };
  return { success: true, output: JSON.stringify(output) };
}

const branchOf = ({ branchFromThought, branchId }: Thought): string[] =>
  branchFromThought !== undefined && branchId ? [branchId] : [];
