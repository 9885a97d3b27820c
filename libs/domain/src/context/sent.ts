import type { NewMessage } from '../message';

/** A message as it is sent, and the place of the stored one. */
export interface Sent {
  readonly message: NewMessage;
  readonly at: number;
}
