import type { ContentBlock, NewMessage } from '@rondo/contract';

/** Inserts the newest state of the browser before the newest user message, for one model call: it is outdated after that. */
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

const contentOf = ({ content }: NewMessage): ContentBlock[] => [
  { type: 'text', text: 'The browser as it is now:' },
  ...content.filter((block) => block.type === 'text' || block.type === 'image'),
];
