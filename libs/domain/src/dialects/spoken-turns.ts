import type { CallId } from '../ids';
import type { Message } from '../message';
import type { AssistantBlock, ModelMessage, ModelToolResult, ShownBlock } from '../model';
import type { ProcessorSettings } from '../run-settings';
import { letTheUserSpeak, pairCalls } from './pair-calls';

/** What an assistant's turn is made of where calls and results are text. */
export type SpokenPart =
  | { readonly type: 'text'; readonly text: string }
  | SpokenCall
  | { readonly type: 'result'; readonly name: string; readonly text: string; readonly isError: boolean };

export interface SpokenCall {
  readonly type: 'call';
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** What the model wrote where that could not be read. */
  readonly written: string | undefined;
}

/** A call as an example. */
export const callOf = ({ name }: { name: string }, example: SpokenCall['arguments']): SpokenCall => ({
  type: 'call',
  name,
  arguments: example,
  written: undefined,
});

export type Placing = ProcessorSettings['xml_adding_strategy'];

/**
 * A conversation for a model without tool calls of its own: calls are text of the assistant, and their results stand
 * where `placing` says. The request stays valid (I6): roles alternate, nothing is empty, the user has the last word.
 * What is said of a turn does not depend on later ones.
 */
export function speakTurns(
  conversation: readonly Message[],
  placing: Placing,
  write: (parts: readonly SpokenPart[]) => string,
): ModelMessage[] {
  const written = unreadableCalls(conversation);
  const paired = pairCalls(conversation);
  const turns = paired.flatMap((message, at): ModelMessage[] => {
    if (message.role !== 'assistant') return message.role === 'user' ? [message] : [];
    const next = paired[at + 1];
    const exchange = exchangeOf(message.content, next?.role === 'tool' ? next.results : [], written);
    return placed[placing](exchange, write);
  });
  return letTheUserSpeak(mergeUserTurns(turns));
}

/** A turn of the assistant with what came of it. `parts` hold its text and calls, `results` one result per call. */
interface Exchange {
  readonly reasoning: readonly AssistantBlock[];
  readonly parts: readonly SpokenPart[];
  readonly results: readonly SpokenPart[];
  readonly images: readonly ShownBlock[];
}

type Place = (exchange: Exchange, write: (parts: readonly SpokenPart[]) => string) => ModelMessage[];

const placed: Record<Placing, Place> = {
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
  const parts = content.flatMap((block): SpokenPart[] => {
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

function unreadableCalls(conversation: readonly Message[]): Map<CallId, string> {
  const blocks = conversation.flatMap(({ content }) => content);
  return new Map(
    blocks.flatMap((block) =>
      block.type === 'tool_call' && block.raw_arguments !== undefined
        ? [[block.tool_call_id, block.raw_arguments] as const]
        : [],
    ),
  );
}

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
