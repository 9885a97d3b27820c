import { memoizeGrowingList } from '../memoize/memoize-growing-list';
import type { CallId, Message, ProcessorSettings } from '@rondo/contract';
import type { AssistantBlock, ModelMessage, ModelToolResult, ShownBlock } from '../models/model';
import { hiddenFieldsOf } from '../memoize/hidden-fields';
import { continuation, pairCalls, wantsUser } from './pair-calls';

/** What an assistant's turn is made of where calls and results are text. */
export type TextPart =
  | { readonly type: 'text'; readonly text: string }
  | TextCall
  | { readonly type: 'result'; readonly name: string; readonly text: string; readonly isError: boolean };

export interface TextCall {
  readonly type: 'call';
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** What the model wrote where that could not be read. */
  readonly written: string | undefined;
}

/** A call as an example. */
export const callOf = ({ name }: { name: string }, example: TextCall['arguments']): TextCall => ({
  type: 'call',
  name,
  arguments: example,
  written: undefined,
});

export type ResultPlacement = ProcessorSettings['xml_adding_strategy'];

/** How a dialect writes a turn. */
export type TurnWriter = (parts: readonly TextPart[]) => string;

/**
 * A conversation for a model without tool calls of its own: calls are text of the assistant, and their results stand
 * where `placing` says. The request stays valid (I6): roles alternate, nothing is empty, the user has the last word.
 * What is said of a turn does not depend on later ones, and with the same writer it is said once.
 */
export function renderTurns(
  conversation: readonly Message[],
  placing: ResultPlacement,
  write: TurnWriter,
): ModelMessage[] {
  const written = unreadableCalls(conversation);
  const paired = pairCalls(conversation);
  const turns = paired.flatMap((message, at) => {
    if (message.role !== 'assistant') return message.role === 'user' ? [message] : [];
    const next = paired[at + 1];
    return spokenOnce(message, { tools: next?.role === 'tool' ? next : undefined, placing, write }, written);
  });
  return letTheUserSpeak(mergeUserTurns(turns));
}

type Turn<Role extends ModelMessage['role']> = Extract<ModelMessage, { role: Role }>;

/** What a reply becomes depends on these. */
interface Manner {
  readonly tools: Turn<'tool'> | undefined;
  readonly placing: ResultPlacement;
  readonly write: TurnWriter;
}

const spoken = hiddenFieldsOf<ModelMessage, Manner & { readonly turns: readonly ModelMessage[] }>();

function spokenOnce(
  reply: Turn<'assistant'>,
  manner: Manner,
  written: ReadonlyMap<CallId, string>,
): readonly ModelMessage[] {
  const known = spoken.get(reply);
  const { tools, placing, write } = manner;
  if (known?.tools === tools && known?.placing === placing && known.write === write) return known.turns;

  const turns = placed[placing](exchangeOf(reply.content, tools?.results ?? [], written), write);
  spoken.set(reply, { ...manner, turns });
  return turns;
}

/** A turn of the assistant with what came of it. `parts` hold its text and calls, `results` one result per call. */
interface Exchange {
  readonly reasoning: readonly AssistantBlock[];
  readonly parts: readonly TextPart[];
  readonly results: readonly TextPart[];
  readonly images: readonly ShownBlock[];
}

type Place = (exchange: Exchange, write: TurnWriter) => ModelMessage[];

const placed: Record<ResultPlacement, Place> = {
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

function exchangeOf(
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

/** What the model wrote of the calls that could not be read. */
const unreadableCalls = memoizeGrowingList<Message, Map<CallId, string>>((written = new Map(), more) => {
  for (const block of more.flatMap(({ content }) => content)) {
    if (block.type === 'tool_call' && block.raw_arguments !== undefined)
      written.set(block.tool_call_id, block.raw_arguments);
  }
  return written;
});

function mergeUserTurns(turns: readonly ModelMessage[]): ModelMessage[] {
  const merged: ModelMessage[] = [];
  for (const turn of turns) {
    const last = merged.at(-1);
    if (turn.role === 'user' && last?.role === 'user')
      merged[merged.length - 1] = { role: 'user', content: [...last.content, ...turn.content] };
    else merged.push(turn);
  }
  return merged;
}

/** A user turn wherever a provider wants one: first, between two replies, and last. */
function letTheUserSpeak(messages: readonly ModelMessage[]): ModelMessage[] {
  const turns: ModelMessage[] = [];
  for (const message of messages) {
    if (message.role === 'assistant' && wantsUser(turns)) turns.push(continuation());
    turns.push(message);
  }
  return wantsUser(turns) ? [...turns, continuation()] : turns;
}
