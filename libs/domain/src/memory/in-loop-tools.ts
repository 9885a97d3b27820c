import type { z } from 'zod';
import { type NewMessage, type RunSettings, type ToolCall, type ToolResult, failedResult } from '@rondo/contract';
import type { AgentRun } from '../loop/loop-context';
import type { Tool } from '../tools/catalog';
import { explainArguments } from '../tools/explain-arguments';
import { targetArguments } from '../tools/tool-alias';
import { expand } from './expand-message';
import { useNotebook } from './notebook';
import { recordThought } from './sequential-thinking';

type LoopTool = Extract<Tool, { runsIn: 'loop' }>;
type LoopToolHandler<Named extends LoopTool> = (
  input: z.infer<Named['input']>,
  conversation: readonly NewMessage[],
  about: { readonly call: ToolCall; readonly profile: RunSettings['profile'] },
) => ToolResult;

const returns = (output: string) => (): ToolResult => ({ success: true, output });
const turnEnds = returns('The turn is over.');

/** The handlers of tools that need nothing but the thread. The type requires one for each loop tool. */
const handlers: { [Name in LoopTool['name']]: LoopToolHandler<Extract<LoopTool, { name: Name }>> } = {
  ask: returns("Awaiting the user's answer."),
  web_browser_takeover: returns("Awaiting the user's answer."),
  complete: ({ text, answer }, _, { profile }) =>
    profile === 'ii' && ![text, answer].some((words) => words?.trim())
      ? failedResult('complete needs `answer`: what the run found.')
      : turnEnds(),
  message_user: returns('The user can read it.'),
  return_control_to_user: turnEnds,
  expand_message: expand,
  compactify_memory: returns('The conversation is summarized before your next turn, if there is enough to summarize.'),
  simple_memory: useNotebook,
  sequential_thinking: (thought, conversation, { call: { run_id } }) =>
    recordThought(
      thought,
      conversation.filter((message) => message.run_id === run_id),
    ),
};

/** False for a tool that a restored set still names and this version no longer has. */
const isLoopTool = (name: string): name is LoopTool['name'] => Object.hasOwn(handlers, name);

type AnsweringRun = Pick<AgentRun, 'tools'> & { readonly settings: Pick<RunSettings, 'profile'> };

/** Answers a call of a loop tool from the messages of the thread. */
export function answerInLoop(
  call: ToolCall,
  conversation: readonly NewMessage[],
  { settings: { profile }, tools }: AnsweringRun,
): ToolResult {
  const tool = tools.named(call.name);
  const target = tool?.alias ? tools.named(tool.alias.of) : tool;
  if (!tool || !target || !isLoopTool(target.name)) return failedResult(`There is no tool named "${call.name}".`);
  const input = tool.input.safeParse(call.arguments);
  if (!input.success) return failedResult(explainArguments(tool, input.error, call.arguments));
  const handler = handlers[target.name] as LoopToolHandler<LoopTool>; // the tool's own schema parses the input
  const own = tool.alias ? target.input.parse(targetArguments(tool.alias, input.data)) : input.data;
  return handler(own, conversation, { call, profile });
}
