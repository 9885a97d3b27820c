import type { NewMessage } from '@rondo/contract';
import { memoize } from '../memoize/memoize';

/** The same object for the same message, and the message itself where there are none. */
export const withoutReasoning = memoize((message: NewMessage): NewMessage => {
  const content = message.content.filter(({ type }) => type !== 'reasoning');
  return content.length === message.content.length ? message : { ...message, content };
});
