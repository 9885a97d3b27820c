import type { ContentBlock, MessageType, NewMessage } from '@rondo/contract';

/** Inserts the newest browser state and images before the newest user message, for one model call: they are outdated after it. */
export function withTemporary(messages: readonly NewMessage[], unseen: readonly NewMessage[]): readonly NewMessage[] {
  const [newest] = unseen;
  if (!newest) return messages;

  const temporary: NewMessage = { ...newest, type: 'user', content: unseen.flatMap(contentOf) };
  const before = messages.findLastIndex(({ type }) => type === 'user');
  return before < 0 ? [...messages, temporary] : messages.toSpliced(before, 0, temporary);
}

/** Appends a warning to the model for one call. */
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
