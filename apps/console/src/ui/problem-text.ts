import { ConnectionError, RondoError } from '@rondo/client';

/** What went wrong, for people. */
export function problemText(error: unknown): string {
  if (error instanceof RondoError) {
    if (error.status === 401) return 'The session has ended. Sign in again.';
    const fields = error.errors.map(({ field, message }) => `${field}: ${message}`);
    return [error.message, ...fields.filter((text) => !error.message.includes(text))].join(' ');
  }
  if (error instanceof ConnectionError) return 'The gateway does not answer. Is it running?';
  return error instanceof Error ? error.message : String(error);
}
