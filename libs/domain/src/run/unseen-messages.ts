import type { NewMessage } from '@rondo/contract';

/** The newest state message of each kind that a model is shown. */
export const withStateMessage = (unseen: readonly NewMessage[], message: NewMessage): readonly NewMessage[] =>
  message.type === 'browser_state' || message.type === 'image_context'
    ? [...unseen.filter(({ type }) => type !== message.type), message]
    : unseen;
