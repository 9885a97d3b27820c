import {
  type NewMessage,
  type RunSettings,
  type ToolCall,
  type ToolResult,
  characterStart,
  toFailedResult,
  type ContentBlock,
} from '@rondo/contract';
import type { z } from 'zod';
import { toText } from '../context/message-text';
import type { AgentRun } from '../loop-context';
import type { RunState } from '../run/run-state';
import type { Tool } from '../tools/catalog';
import { explainArguments } from '../tools/explain-arguments';
import type { memoryStoreTools } from '../tools/memory-store.tools';
import { expandMessage, sequentialThinking, simpleMemory } from '../tools/memory.tools';
import { targetArguments } from '../tools/tool-alias';
import { notShown, searchTools } from '../tools/tool-search';
import type { PastCall, ThreadArchive } from '../ports';
import { wellFormedText } from '../well-formed';

/** Memory stores answer the others. */
type LoopTool = Exclude<Extract<Tool, { runsIn: 'loop' }>, (typeof memoryStoreTools)[number]>;

/** `loadedTools`: what the model is offered from its next turn on. */
export type LoopResult = ToolResult & { readonly loadedTools?: readonly string[] };

type LoopToolHandler<Named extends LoopTool> = (
  input: z.infer<Named['input']>,
  conversation: readonly NewMessage[],
  about: { readonly call: ToolCall; readonly run: AnsweringRun },
) => LoopResult;

const returns = (output: string) => (): ToolResult => ({ success: true, output });
const turnEnds = returns('The turn is over.');

/** The handlers of tools that need nothing but the thread. The type requires one for each loop tool. */
const handlers: { [Name in LoopTool['name']]: LoopToolHandler<Extract<LoopTool, { name: Name }>> } = {
  ask: returns("Awaiting the user's answer."),
  web_browser_takeover: returns("Awaiting the user's answer."),
  complete: ({ text, answer }, _, { run: { settings } }) =>
    settings.profile === 'ii' && ![text, answer].some((words) => words?.trim())
      ? toFailedResult('complete needs `answer`: what the run found.')
      : turnEnds(),
  message_user: returns('The user can read it.'),
  return_control_to_user: turnEnds,
  expand_message: expand,
  compactify_memory: returns('The conversation is summarized before your next turn, if there is enough to summarize.'),
  simple_memory: useNotebook,
  tool_search: (request, _, { run: { tools, loaded = [] } }) => {
    const { result, found } = searchTools(tools, request);
    return { ...result, loadedTools: notShown(tools, loaded, found) };
  },
  sequential_thinking: (thought, conversation, { call: { run_id } }) =>
    recordThought(
      thought,
      conversation.filter((message) => message.run_id === run_id),
    ),
};

/** False for a tool that a restored set still names and this version no longer has. */
const isLoopTool = (name: string): name is LoopTool['name'] => Object.hasOwn(handlers, name);

type AnsweringRun = Pick<AgentRun, 'tools'> & {
  readonly settings: Pick<RunSettings, 'profile'>;
  readonly loaded?: RunState['loadedTools'];
};

/** Answers a call of a loop tool from the messages of the thread. */
export function answerInLoop(call: ToolCall, conversation: readonly NewMessage[], run: AnsweringRun): LoopResult {
  const { tools } = run;
  const tool = tools.named(call.name);
  const target = tool?.alias ? tools.named(tool.alias.of) : tool;
  if (!tool || !target || !isLoopTool(target.name)) return toFailedResult(`There is no tool named "${call.name}".`);
  const input = tool.input.safeParse(call.arguments);
  if (!input.success) return toFailedResult(explainArguments(tool, input.error, call.arguments));
  const handler = handlers[target.name] as LoopToolHandler<LoopTool>; // the tool's own schema parses the input
  const own = tool.alias ? target.input.parse(targetArguments(tool.alias, input.data)) : input.data;
  return handler(own, conversation, { call, run });
}

/** Characters; small enough for the context of any model. */
const maxPieceLength = 12_000;

function expand(
  { message_id, start: from }: z.infer<typeof expandMessage.input>,
  conversation: readonly NewMessage[],
): ToolResult {
  const message = conversation.find(({ id }) => id === message_id);
  if (!message) return toFailedResult(`There is no message ${message_id} in this conversation.`);

  const text = toText(message);
  if (from > 0 && from >= text.length) return toFailedResult(`The message has ${text.length} characters only.`);

  const start = characterStart(text, from);
  const end = characterStart(text, Math.min(text.length, start + maxPieceLength));
  const more = end < text.length;
  const note = more
    ? `\n[Characters ${start} to ${end} of ${text.length}. The next piece: expand_message("${message_id}", start: ${end}).]`
    : '';
  return { success: true, output: wellFormedText(text.slice(start, end)) + note, ...(more && { truncated: true }) };
}

type Entry = z.infer<typeof simpleMemory.input>;

/** The notebook is derived from its successful writes and edits in the thread. */
function useNotebook(entry: Entry, conversation: readonly NewMessage[]): ToolResult {
  const text = readNotebook(conversation);
  switch (entry.action) {
    case 'read':
      return done(text === '' ? '(The notebook is empty.)' : text);
    case 'write':
      if (entry.content === undefined) return toFailedResult('"write" needs content.');
      return done(text === '' ? 'Written.' : `Written. It replaced what stood there before:\n${text}`);
    case 'edit':
      return edit(entry, text);
  }
}

function edit({ old_string: before, new_string: after }: Entry, text: string): ToolResult {
  if (!before || after === undefined) return toFailedResult('"edit" needs old_string and new_string.');
  const times = text.split(before).length - 1;
  if (times === 0) return toFailedResult('old_string does not occur in the notebook.');
  if (times > 1) return toFailedResult(`old_string occurs ${times} times in the notebook; it must occur exactly once.`);
  return done('Edited.');
}

const readNotebook = (conversation: readonly NewMessage[]): string =>
  listSucceededCalls(simpleMemory.name, conversation).reduce((text, input) => {
    const entry = simpleMemory.input.safeParse(input);
    return entry.success ? after(text, entry.data) : text;
  }, '');

function after(text: string, entry: Entry): string {
  switch (entry.action) {
    case 'read':
      return text;
    case 'write':
      return entry.content ?? text;
    case 'edit':
      return text.split(entry.old_string ?? '').join(entry.new_string ?? '');
  }
}

const done = (output: string): ToolResult => ({ success: true, output });

type Thought = z.infer<typeof sequentialThinking.input>;

/** Reports the model's position in its sequence of thoughts, which belongs to one run. */
function recordThought(thought: Thought, ofRun: readonly NewMessage[]): ToolResult {
  const earlier = listSucceededCalls(sequentialThinking.name, ofRun).flatMap((input) => {
    const parsed = sequentialThinking.input.safeParse(input);
    return parsed.success ? [parsed.data] : [];
  });
  const all = [...earlier, thought];
  const output = {
    thoughtNumber: thought.thoughtNumber,
    totalThoughts: Math.max(thought.totalThoughts, thought.thoughtNumber),
    nextThoughtNeeded: thought.nextThoughtNeeded,
    branches: [...new Set(all.flatMap(toBranches))],
    thoughtHistoryLength: all.length,
  };
  return { success: true, output: JSON.stringify(output) };
}

const toBranches = ({ branchFromThought, branchId }: Thought): string[] =>
  branchFromThought !== undefined && branchId ? [branchId] : [];

/** The arguments of every call of a tool that succeeded, in the order of their results. */
function listSucceededCalls(name: string, conversation: readonly NewMessage[]): Record<string, unknown>[] {
  const inputs = new Map<string, Record<string, unknown>>();
  const succeeded: Record<string, unknown>[] = [];
  for (const { content } of conversation) {
    for (const block of content) {
      if (block.type === 'tool_call' && block.name === name) inputs.set(block.tool_call_id, block.arguments);
      if (block.type !== 'tool_result' || !block.result.success) continue;
      const call = inputs.get(block.tool_call_id);
      if (call) succeeded.push(call);
      inputs.delete(block.tool_call_id);
    }
  }
  return succeeded;
}

type Conversation = readonly NewMessage[];

/** The conversation with the archived messages or calls that the tool call needs. */
export async function recall(
  call: ToolCall,
  conversation: Conversation,
  archive: ThreadArchive | undefined,
): Promise<Conversation> {
  if (!archive) return conversation;
  if (call.name === expandMessage.name) return withMessage(conversation, call.arguments['message_id'], archive);
  if (call.name !== simpleMemory.name && call.name !== sequentialThinking.name) return conversation;
  return withCalls(conversation, await archive.listSucceeded(call.name), call);
}

async function withMessage(conversation: Conversation, id: unknown, archive: ThreadArchive): Promise<Conversation> {
  if (typeof id !== 'string' || conversation.some((message) => message.id === id)) return conversation;
  const message = await archive.message(id);
  return message ? [...conversation, message] : conversation;
}

/** The newest calls may not be in the archive yet. */
function withCalls(
  conversation: Conversation,
  past: readonly PastCall[],
  { name, message_id }: ToolCall,
): Conversation {
  const pastIds = new Set<string>(past.map(({ id }) => id));
  const isNew = (block: ContentBlock) => block.type !== 'tool_call' || !pastIds.has(block.tool_call_id);
  const reply = conversation.find(({ id }) => id === message_id);
  if (!reply) return conversation;
  const archived = past.map(({ id, runId, arguments: input }): NewMessage => ({
    ...reply,
    run_id: runId,
    content: [
      { type: 'tool_call', tool_call_id: id, name, arguments: input },
      { type: 'tool_result', tool_call_id: id, name, result: { success: true, output: '' } },
    ],
  }));
  return [...archived, ...conversation.map((message) => ({ ...message, content: message.content.filter(isNew) }))];
}
