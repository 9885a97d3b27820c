import type { z } from 'zod';
import type { NewMessage } from '../message';
import type { ToolCall } from '../tool-call';
import { type ToolResult, failedResult } from '../tool-result';
import { type Tool, toolNamed } from '../tools/catalog';
import { expand } from './expand-message';
import { useNotebook } from './notebook';
import { takeThought } from './thoughts';

type LoopTool = Extract<Tool, { runsIn: 'loop' }>;
type Hand<Named extends LoopTool> = (
  input: z.infer<Named['input']>,
  conversation: readonly NewMessage[],
  call: ToolCall,
) => ToolResult;

const says = (output: string) => (): ToolResult => ({ success: true, output });
const turnEnds = says('The turn is over.');

/** The hands of the tools that need nothing but the thread. A tool of the loop without a hand here does not compile. */
const hands: { [Name in LoopTool['name']]: Hand<Extract<LoopTool, { name: Name }>> } = {
  ask: says("Awaiting the user's answer."),
  complete: turnEnds,
  return_control_to_user: turnEnds,
  expand_message: expand,
  compactify_memory: says('The conversation is folded before your next turn, if there is enough to fold.'),
  simple_memory: useNotebook,
  sequential_thinking: (thought, conversation, { run_id }) =>
    takeThought(
      thought,
      conversation.filter((message) => message.run_id === run_id),
    ),
};

/** Answers a call of a loop tool from what the thread says. */
export function answerInLoop(call: ToolCall, conversation: readonly NewMessage[]): ToolResult {
  const input = toolNamed(call.name)?.input.safeParse(call.arguments);
  if (!input?.success) return failedResult(`Invalid arguments: ${input?.error.message ?? 'unknown tool'}`);
  const hand = hands[call.name as LoopTool['name']] as Hand<LoopTool>; // only tools of the loop come here, and the name's own schema has parsed the input
  return hand(input.data, conversation, call);
}
