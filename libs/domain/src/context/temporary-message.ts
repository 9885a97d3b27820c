import type { ContentBlock, NewMessage } from '@rondo/contract';

/**
 * Appends the newest state of the browser for one model call: it is outdated after that. At the end it changes nothing that the
 * provider has cached of the request before, or will find again for the next one.
 */
export function withTemporary(messages: readonly NewMessage[], unseen: readonly NewMessage[]): readonly NewMessage[] {
  const [newest] = unseen;
  return newest ? [...messages, toTemporary(newest, unseen.flatMap(readContent))] : messages;
}

/** Appends a warning to the model for one call. */
export function withWarning(messages: readonly NewMessage[], text: string | undefined): readonly NewMessage[] {
  const last = messages.at(-1);
  if (text === undefined || !last) return messages;
  return [...messages, toTemporary(last, [{ type: 'text', text }])];
}

/** Whether the message is for one request only. */
export const isTemporary = ({ metadata }: Pick<NewMessage, 'metadata'>): boolean => metadata['temporary'] === true;

const toTemporary = (like: NewMessage, content: NewMessage['content']): NewMessage => ({
  ...like,
  type: 'user',
  content,
  metadata: { temporary: true },
});

const readContent = ({ content }: NewMessage): ContentBlock[] => [
  { type: 'text', text: 'The browser as it is now:' },
  ...content.filter((block) => block.type === 'text' || block.type === 'image'),
];
