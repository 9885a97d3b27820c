import type { CallId, Message, ProcessorSettings } from '@rondo/contract';
import { continuation, joinUserTurns, needsUserTurn, pairCalls } from '../context/pair-calls';
import { memoizeGrowingList, toHiddenFields } from '../memoize';
import type { AssistantBlock, ModelMessage, ModelToolResult, ShownBlock } from '../models/model';
import { wellFormedText } from '../well-formed';

/** The parts of an assistant turn in which calls and results are text. */
export type TextPart =
  | { readonly type: 'text'; readonly text: string }
  | TextCall
  | { readonly type: 'result'; readonly name: string; readonly text: string; readonly isError: boolean };

export interface TextCall {
  readonly type: 'call';
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** What the model wrote, if the call is malformed. */
  readonly written: string | undefined;
}

/** An example of a call. */
export const toCall = ({ name }: { name: string }, example: TextCall['arguments']): TextCall => ({
  type: 'call',
  name,
  arguments: example,
  written: undefined,
});

export type ResultPlacement = ProcessorSettings['xml_adding_strategy'];

/** How a dialect writes a turn. */
export type TurnWriter = (parts: readonly TextPart[]) => string;

/**
 * A conversation for a model without native tool calls: calls are text of the assistant, and `placement` decides where
 * their results go. The request is valid (I6): roles alternate, nothing is empty, and a user turn comes last. A rendered
 * turn does not depend on later ones, and is rendered once for the same writer.
 */
export function renderTurns(
  conversation: readonly Message[],
  placement: ResultPlacement,
  write: TurnWriter,
): ModelMessage[] {
  const written = unreadableCalls(conversation);
  const paired = pairCalls(conversation);
  const turns = paired.flatMap((message, at) => {
    if (message.role !== 'assistant') return message.role === 'user' ? [message] : [];
    const next = paired[at + 1];
    return renderReply(message, { tools: next?.role === 'tool' ? next : undefined, placement, write }, written);
  });
  return insertUserTurns(mergeUserTurns(turns));
}

type Turn<Role extends ModelMessage['role']> = Extract<ModelMessage, { role: Role }>;

/** What the rendering of a reply depends on. */
interface Rendering {
  readonly tools: Turn<'tool'> | undefined;
  readonly placement: ResultPlacement;
  readonly write: TurnWriter;
}

const renderedReplies = toHiddenFields<ModelMessage, Rendering & { readonly turns: readonly ModelMessage[] }>();

function renderReply(
  reply: Turn<'assistant'>,
  rendering: Rendering,
  written: ReadonlyMap<CallId, string>,
): readonly ModelMessage[] {
  const known = renderedReplies.get(reply);
  const { tools, placement, write } = rendering;
  if (known?.tools === tools && known?.placement === placement && known.write === write) return known.turns;

  const turns = placements[placement](toExchange(reply.content, tools?.results ?? [], written), write);
  renderedReplies.set(reply, { ...rendering, turns });
  return turns;
}

/** A turn of the assistant and its results. `parts` are its text and calls, `results` has one result per call. */
interface Exchange {
  readonly reasoning: readonly AssistantBlock[];
  readonly parts: readonly TextPart[];
  readonly results: readonly TextPart[];
  readonly images: readonly ShownBlock[];
}

type Placement = (exchange: Exchange, write: TurnWriter) => ModelMessage[];

const placements: Record<ResultPlacement, Placement> = {
  user_message: ({ reasoning, parts, results, images }, write) => [
    assistant(reasoning, write(parts)),
    ...user(results.length > 0 ? [{ type: 'text', text: write(results) }, ...images] : []),
  ],
  assistant_message: ({ reasoning, parts, results, images }, write) => [
    assistant(reasoning, write([...parts, ...results])),
    ...user(images),
  ],
  inline_edit: ({ reasoning, parts, results, images }, write) => {
    const left = [...results];
    const edited = parts.map((part) => (part.type === 'call' ? (left.shift() ?? part) : part));
    return [assistant(reasoning, write(edited)), ...user(images)];
  },
};

const assistant = (reasoning: readonly AssistantBlock[], text: string): ModelMessage => ({
  role: 'assistant',
  content: [...reasoning, { type: 'text', text }],
});

const user = (content: readonly ShownBlock[]): ModelMessage[] =>
  content.length > 0 ? [{ role: 'user', content }] : [];

function toExchange(
  content: readonly AssistantBlock[],
  answers: readonly ModelToolResult[],
  written: ReadonlyMap<CallId, string>,
): Exchange {
  const parts = content.flatMap((block): TextPart[] => {
    switch (block.type) {
      case 'reasoning':
        return [];
      case 'text':
        return [block];
      case 'tool_call':
        return [{ type: 'call', name: block.name, arguments: block.arguments, written: written.get(block.id) }];
    }
  });
  const names = parts.flatMap((part) => (part.type === 'call' ? [part.name] : []));
  return {
    reasoning: content.filter((block) => block.type === 'reasoning'),
    parts,
    results: answers.map(({ text, is_error }, at) => ({
      type: 'result',
      name: names[at] ?? '',
      text,
      isError: is_error,
    })),
    images: answers.flatMap(({ image }): ShownBlock[] => (image ? [{ type: 'image', source: image }] : [])),
  };
}

/** What the model wrote, for each malformed call. */
const unreadableCalls = memoizeGrowingList<Message, Map<CallId, string>>((written = new Map(), added) => {
  for (const block of added.flatMap(({ content }) => content)) {
    if (block.type === 'tool_call' && block.raw_arguments !== undefined)
      written.set(block.tool_call_id, wellFormedText(block.raw_arguments));
  }
  return written;
});

function mergeUserTurns(turns: readonly ModelMessage[]): ModelMessage[] {
  const merged: ModelMessage[] = [];
  for (const turn of turns) {
    const last = merged.at(-1);
    if (turn.role === 'user' && last?.role === 'user') merged[merged.length - 1] = joinUserTurns(last, turn);
    else merged.push(turn);
  }
  return merged;
}

/** Inserts a user turn where providers require one: at the start, between two replies, and at the end. */
function insertUserTurns(messages: readonly ModelMessage[]): ModelMessage[] {
  const turns: ModelMessage[] = [];
  for (const message of messages) {
    if (message.role === 'assistant' && needsUserTurn(turns)) turns.push(continuation());
    turns.push(message);
  }
  return needsUserTurn(turns) ? [...turns, continuation()] : turns;
}
