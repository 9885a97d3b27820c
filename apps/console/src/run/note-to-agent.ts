import type { Message } from '@rondo/client';

/** What Rondo tells the model in the place of a person: that a fork lacks the files of its origin, or that files did not arrive. */
export const isNoteToAgent = (message: Message | null): boolean =>
  message?.type === 'user' && (message.metadata['kind'] === 'fork_note' || 'file_problems' in message.metadata);
