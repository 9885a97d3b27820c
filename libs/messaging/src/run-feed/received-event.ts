import { type RunEvent, type RunId, deltaType, factTypes, readJson } from '@rondo/contract';

/**
 * The event in a line of the feed, or undefined. Its envelope is checked, and the event is left as it was sent: its JSON
 * must be the same to the byte for every reader. Its `data` is trusted, as where the log is read, since only writers of the
 * log may publish. The check is written by hand, because every event of every subscription passes here.
 */
export function receivedEvent(line: string, run: RunId): RunEvent | undefined {
  const value = readJson(line);
  if (!isRecord(value) || value['run_id'] !== run || value['v'] !== 1) return undefined;
  if (typeof value['id'] !== 'string' || typeof value['epoch'] !== 'number' || !isRecord(value['data'])) {
    return undefined;
  }
  const isEvent = value['seq'] === null ? isDelta(value) : isFact(value);
  return isEvent ? (value as unknown as RunEvent) : undefined; // as just checked
}

const facts: ReadonlySet<unknown> = new Set(factTypes);
const deltas: ReadonlySet<unknown> = new Set(deltaType.options);

const isFact = ({ type, seq }: Json): boolean => facts.has(type) && isCount(seq) && seq > 0;

const isDelta = ({ type, stream_id, offset, after_seq }: Json): boolean =>
  deltas.has(type) && typeof stream_id === 'string' && isCount(offset) && isCount(after_seq);

type Json = Readonly<Record<string, unknown>>;

const isRecord = (value: unknown): value is Json => typeof value === 'object' && value !== null;
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
