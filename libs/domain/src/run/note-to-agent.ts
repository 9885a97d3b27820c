import type { NewMessage } from '@rondo/contract';

/**
 * Whether Rondo tells the model this in the place of a person, who has not said it: that a fork lacks the files of its origin,
 * that files did not arrive as they were named, or that calls were lost with a database.
 */
export const isNoteToAgent = ({ metadata }: Pick<NewMessage, 'metadata'>): boolean =>
  metadata['kind'] === 'fork_note' || 'file_problems' in metadata || 'database_replaced' in metadata;
