import { type RunEvent, type RunId, deltaType, factTypes } from '@rondo/contract';

/**
 * The event that a line of the feed says, or undefined. Its envelope is checked, and it is left as it was sent: its JSON
 * must stay the same to the byte for every reader. What is in its `data` is trusted here as it is where the log is read:
 * only the log's writers publish. It is checked by hand, since everything that anybody watches comes through here.
 */
export function receivedEvent(line: string, watched: RunId): RunEvent | undefined {
  const value = parsed(line);
  if (!isRecord(value) || value['run_id'] !== watched || value['v'] !== 1) return undefined;
  if (typeof value['id'] !== 'string' || typeof value['epoch'] !== 'number' || !isRecord(value['data'])) {
    return undefined;
  }
  const isEvent = value['seq'] === null ? isDelta(value) : isFact(value);
  return isEvent ? (value as unknown as RunEvent) : undefined; // by what was just checked
}

const facts: ReadonlySet<unknown> = new Set(factTypes);
const deltas: ReadonlySet<unknown> = new Set(deltaType.options);

const isFact = ({ type, seq }: Json): boolean => facts.has(type) && isCount(seq) && seq > 0;

const isDelta = ({ type, stream_id, offset, after_seq }: Json): boolean =>
  deltas.has(type) && typeof stream_id === 'string' && isCount(offset) && isCount(after_seq);

type Json = Readonly<Record<string, unknown>>;

const isRecord = (value: unknown): value is Json => typeof value === 'object' && value !== null;
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
