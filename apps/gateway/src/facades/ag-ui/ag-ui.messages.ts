import { isDeepStrictEqual } from 'node:util';
import type { ContentBlock, Message, Run } from '@rondo/contract';
import type { AgUiMessage } from '@rondo/contract/api';
import { isNoteToAgent } from '@rondo/domain';
import { isQuestion, readClosingWords } from '../run-answer';

/** A call in a message of the assistant. */
export interface AgUiToolCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

/** The ids of what clients are shown follow from those in the log, so that they are the same in each stream and snapshot. */
export const agUiIds = {
  reasoning: (messageId: string) => `${messageId}-reasoning`,
  question: (callId: string) => `question_${callId}`,
  answer: (callId: string) => `answer_${callId}`,
  result: (callId: string) => `result_${callId}`,
};

/** Calls that are no tools to the client: what they say is shown as text. */
export const isShownAsText = (name: string): boolean => name === 'complete' || isQuestion(name);

/** The run metadata with the client's id of the message that the run began with. */
export const questionKey = 'ag_ui_message';

/** Begins the block that has the context of a page, before the words of the user. */
export const contextHeading = 'Context from the page that the user sees:';

/** The messages of a thread as AG-UI has them. `runs` are those whose metadata is known. */
export function toAgUiMessages(rows: readonly Message[], runs: readonly Pick<Run, 'id' | 'metadata'>[]): AgUiMessage[] {
  const given = new Map(runs.map(({ id, metadata }) => [id as string, metadata[questionKey]]));
  return rows.flatMap((row): AgUiMessage[] => {
    if (row.type === 'assistant') return toReply(row);
    if (row.type === 'tool' && !row.is_llm_message) return []; // of a call that a program made
    if (row.type === 'tool') return row.content.flatMap(toResult);
    if (row.type !== 'user' || isNoteToAgent(row)) return [];
    const id = (row.run_id !== null && given.get(row.run_id)) || row.id;
    given.delete(row.run_id ?? '');
    return [{ id, role: 'user', content: toShownText(row.content) }];
  });
}

const toShownText = (content: readonly ContentBlock[]): string =>
  content
    .flatMap((block) => (block.type === 'text' ? [block.text] : []))
    .filter((text, index) => index > 0 || !text.startsWith(contextHeading))
    .join('\n\n');

function toReply({ id, content }: Message): AgUiMessage[] {
  const join = (type: 'text' | 'reasoning') => content.map((block) => (block.type === type ? block.text : '')).join('');
  const [thoughts, words] = [join('reasoning'), join('text')];
  const calls = content.flatMap((block) => (block.type === 'tool_call' ? [block] : []));
  const toolCalls = calls
    .filter(({ name }) => !isShownAsText(name))
    .map((call) => toToolCall({ ...call, id: call.tool_call_id }));
  return [
    ...(thoughts === '' ? [] : [{ id: agUiIds.reasoning(id), role: 'reasoning' as const, content: thoughts }]),
    ...(words === '' && toolCalls.length === 0 ? [] : [toAssistantMessage(id, words, toolCalls)]),
    ...calls.flatMap(({ tool_call_id: callId, ...call }) => toWords({ ...call, id: callId })),
  ];
}

const toAssistantMessage = (id: string, content: string, toolCalls: readonly AgUiToolCall[]): AgUiMessage => ({
  id,
  role: 'assistant',
  content,
  ...(toolCalls.length > 0 && { toolCalls }),
});

interface GivenCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

export const toToolCall = ({ id, name, arguments: given }: GivenCall): AgUiToolCall => ({
  id,
  type: 'function',
  function: { name, arguments: JSON.stringify(given) },
});

/** What a question asks, and what a run says last. */
function toWords(call: GivenCall): AgUiMessage[] {
  const closing = readClosingWords(call);
  if (closing !== undefined) return [{ id: agUiIds.answer(call.id), role: 'assistant', content: closing }];
  const { text } = call.arguments;
  if (!isQuestion(call.name) || typeof text !== 'string') return [];
  return [{ id: agUiIds.question(call.id), role: 'assistant', content: text }];
}

const toResult = (block: ContentBlock): AgUiMessage[] =>
  block.type !== 'tool_result' || isShownAsText(block.name)
    ? []
    : [toToolMessage(block.tool_call_id, block.result.error ?? block.result.output)];

export const toToolMessage = (toolCallId: string, content: string): AgUiMessage => ({
  id: agUiIds.result(toolCallId),
  role: 'tool',
  toolCallId,
  content,
});

interface ShownMessage {
  readonly id: string;
  readonly role: 'assistant' | 'reasoning' | 'tool' | 'user';
  content: string;
  readonly toolCalls: AgUiToolCall[];
  readonly toolCallId?: string;
}

/** The messages that a client has of a run, as far as it was shown. */
export class Transcript {
  private messages: ShownMessage[] = [];

  /** `history`: what the client has from before. */
  constructor(private readonly history: readonly AgUiMessage[]) {}

  get snapshot(): AgUiMessage[] {
    const shown = this.messages.map(({ id, role, content, toolCalls, toolCallId }): AgUiMessage => {
      if (role === 'assistant') return toAssistantMessage(id, content, toolCalls);
      return { id, role, content, ...(toolCallId !== undefined && { toolCallId }) };
    });
    const ids = new Set(shown.map(({ id }) => id));
    return [...this.history.filter(({ id, role }) => role !== 'activity' && !ids.has(id)), ...shown];
  }

  say(role: ShownMessage['role'], id: string, text: string): void {
    this.findOrAdd(role, id).content += text;
  }

  /** False: the call was there before, with the same arguments. */
  call(messageId: string, call: AgUiToolCall): boolean {
    const { toolCalls } = this.findOrAdd('assistant', messageId);
    const index = toolCalls.findIndex(({ id }) => id === call.id);
    if (index < 0) toolCalls.push(call);
    else if (isDeepStrictEqual(toolCalls[index], call)) return false;
    else toolCalls[index] = call;
    return true;
  }

  addResult(toolCallId: string, content: string): void {
    this.messages.push({ id: agUiIds.result(toolCallId), role: 'tool', content, toolCalls: [], toolCallId });
  }

  /** Clients keep reasoning that a snapshot leaves out, so what was withdrawn of it is shown as empty. */
  withdraw(streamIds: readonly string[]): void {
    const isWithdrawn = (id: string) => streamIds.includes(id);
    this.messages = this.messages.flatMap((message) => {
      if (message.role === 'reasoning')
        return streamIds.some((id) => agUiIds.reasoning(id) === message.id) ? [{ ...message, content: '' }] : [message];
      const toolCalls = message.toolCalls.filter(({ id }) => !isWithdrawn(id));
      const content = isWithdrawn(message.id) ? '' : message.content;
      const isEmpty = message.role === 'assistant' && content === '' && toolCalls.length === 0;
      return isEmpty ? [] : [{ ...message, content, toolCalls }];
    });
  }

  private findOrAdd(role: ShownMessage['role'], id: string): ShownMessage {
    const known = this.messages.find((message) => message.id === id);
    if (known) return known;
    const added = { id, role, content: '', toolCalls: [] };
    this.messages.push(added);
    return added;
  }
}
