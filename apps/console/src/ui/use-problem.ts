import { ConnectionError } from '@rondo/client';
import { useState } from 'react';
import { useConnectionLost } from '../session/connection.ts';
import { problemText } from './problem-text.ts';

/** What went wrong last, in words. That the gateway was away is gone as soon as it answers again. */
export function useProblem(): readonly [problem: string | null, setProblem: (error: unknown) => void] {
  const [error, setError] = useState<unknown>(null);
  const isLost = useConnectionLost();
  const isPast = error === null || (error instanceof ConnectionError && !isLost);
  return [isPast ? null : problemText(error), setError];
}
