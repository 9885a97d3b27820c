import { createHash } from 'node:crypto';
import type { CallId, RunId } from '@rondo/contract';

const derived = (name: string): string => createHash('sha256').update(name).digest('hex').slice(0, 16);

/**
 * The ids of spans that have others below them follow from the ids of what they are about. So each process can hang its
 * spans below them without being told, at any time, and a span can be sent by another process than the one that was
 * killed at its work (docs/decisions/0098).
 */
export const creationSpanId = (run: RunId): string => derived(`create_run ${run}`);
export const agentSpanId = (run: RunId): string => derived(`invoke_agent ${run}`);
export const callSpanId = (call: CallId, attempt: number): string => derived(`execute_tool ${call} ${attempt}`);
