import { ConnectionError, RondoError } from '@rondo/client';
import { useState } from 'react';
import { useConnectionLost } from '../session/connection.ts';

/** What went wrong, for people. */
export function problemText(error: unknown): string {
  if (error instanceof RondoError) {
    if (error.status === 401) return 'The session has ended. Sign in again.';
    const fields = error.errors.map(({ field, message }) => `${field}: ${message}`);
    return [error.message, ...fields.filter((text) => !error.message.includes(text))].join(' ');
  }
  if (error instanceof ConnectionError)
    return 'The server does not answer. Check your connection, and try again in a moment.';
  return error instanceof Error ? error.message : String(error);
}

/** What was asked for is not there, or no longer. */
export const isMissing = (error: unknown): boolean => error instanceof RondoError && error.status === 404;

/** Whether a page has nothing to show: what it is about was never read, or is no longer there. */
export const hasNothing = (error: unknown, data: unknown): boolean =>
  error !== null && (data === undefined || isMissing(error));

/** What went wrong last, in words. */
export function useProblem(): readonly [problem: string | null, setProblem: (error: unknown) => void] {
  const [error, setError] = useState<unknown>(null);
  return [useProblemText(error), setError];
}

/** Null for no error. That the gateway was away is gone as soon as it answers again. */
export function useProblemText(error: unknown): string | null {
  const isLost = useConnectionLost();
  const isPast = error === null || (error instanceof ConnectionError && !isLost);
  return isPast ? null : problemText(error);
}
