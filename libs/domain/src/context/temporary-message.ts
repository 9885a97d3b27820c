import type { ContentBlock, MessageType, NewMessage } from '@rondo/contract';

/** What the model should know of the world at this moment, before the newest words of the user, for one call (LP14). */
export function withTemporary(messages: readonly NewMessage[], unseen: readonly NewMessage[]): readonly NewMessage[] {
  const [newest] = unseen;
  if (!newest) return messages;

  const temporary: NewMessage = { ...newest, type: 'user', content: unseen.flatMap(contentOf) };
  const before = messages.findLastIndex(({ type }) => type === 'user');
  return before < 0 ? [...messages, temporary] : messages.toSpliced(before, 0, temporary);
}

/** A word to the model behind everything else, for one call. */
export function withWarning(messages: readonly NewMessage[], text: string | undefined): readonly NewMessage[] {
  const last = messages.at(-1);
  if (text === undefined || !last) return messages;
  return [...messages, { ...last, type: 'user', content: [{ type: 'text', text }], metadata: {} }];
}

const titles: Partial<Record<MessageType, string>> = {
  browser_state: 'The browser as it is now:',
  image_context: 'An image to look at:',
};

const contentOf = ({ type, content }: NewMessage): ContentBlock[] => [
  { type: 'text', text: titles[type] ?? '' },
  ...content.filter((block) => block.type === 'text' || block.type === 'image'),
];
