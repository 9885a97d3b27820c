import { between } from '../ui/amounts.ts';
import type { RunDetails } from './run-details.ts';

/** How long the run has taken until `end`, in milliseconds. A fork counts what it shares, and not the time in which its log rested. */
export const takenMs = ({ createdAt, restedMs }: Pick<RunDetails, 'createdAt' | 'restedMs'>, end: string): number =>
  createdAt === null ? 0 : Math.max(0, between(createdAt, end) - restedMs);
