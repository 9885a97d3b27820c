import type { NewMessage } from '../message';

const known = new WeakMap<NewMessage, NewMessage>();

/** The same object for the same message, and the message itself where there are none. */
export function withoutThoughts(message: NewMessage): NewMessage {
  const made = known.get(message) ?? silence(message);
  known.set(message, made);
  return made;
}

function silence(message: NewMessage): NewMessage {
  const content = message.content.filter(({ type }) => type !== 'reasoning');
  return content.length === message.content.length ? message : { ...message, content };
}
