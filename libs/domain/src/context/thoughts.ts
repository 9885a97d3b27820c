import type { NewMessage } from '../message';
import { memoize } from '../once-per';

/** The same object for the same message, and the message itself where there are none. */
export const withoutReasoning = memoize((message: NewMessage): NewMessage => {
  const content = message.content.filter(({ type }) => type !== 'reasoning');
  return content.length === message.content.length ? message : { ...message, content };
});
