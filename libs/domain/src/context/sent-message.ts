import type { NewMessage } from '@rondo/contract';

/** A message as it is sent, and the place of the stored one. */
export interface Sent {
  readonly message: NewMessage;
  readonly at: number;
}
