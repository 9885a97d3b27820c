import { createHash } from 'node:crypto';
import type { Conversation } from '../script/script-conversation';
import type { Turn } from '../script/turn';

type Call = NonNullable<Turn['calls']>[number];

/** A part of a reply that is streamed in pieces. */
export type Part =
  | { readonly type: 'reasoning' | 'text'; readonly text: string }
  | { readonly type: 'call'; readonly text: string; readonly index: number; readonly name: string };

export function listParts({ reasoning = '', text = '', calls = [] }: Turn): Part[] {
  const spoken: Part[] = [
    { type: 'reasoning', text: reasoning },
    { type: 'text', text },
  ];
  return [
    ...spoken.filter((part) => part.text !== ''),
    ...calls.map((call, index): Part => ({ type: 'call', text: argumentsText(call), index, name: call.name })),
  ];
}

export const argumentsText = (call: Call): string =>
  typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments);

const defaultChunkChars = 16;

/** Splits between code points, so that no piece contains half a character. */
export function listPieces(text: string, { chunk_chars = defaultChunkChars }: Turn): readonly string[] {
  return text.match(new RegExp(`.{1,${chunk_chars}}`, 'gsu')) ?? [];
}

/** An id that is the same for every attempt of a reply and differs for each reply of the conversation. */
export function conversationKey(model: string, conversation: Conversation): string {
  return createHash('sha256')
    .update(JSON.stringify([model, conversation]))
    .digest('hex')
    .slice(0, 24);
}
