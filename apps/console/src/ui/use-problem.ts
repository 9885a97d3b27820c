import { ConnectionError } from '@rondo/client';
import { useState } from 'react';
import { useConnectionLost } from '../session/connection.ts';
import { problemText } from './problem-text.ts';

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
