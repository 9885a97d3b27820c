import type { AnthropicEventQuery } from '@rondo/contract/api';
import type { Runs, ThreadAddress } from '@rondo/persistence';
import { ApiError } from '../../problems/api-error';
import { readLogPages } from '../log-pages';
import { type Position, comparePositions, readPosition, writePosition } from '../positions';
import { AnthropicTranslator, type SessionEvent } from './anthropic.translate';

export type ReadableRuns = Pick<Runs, 'get' | 'listBegun' | 'events'>;

interface PlacedEvent {
  readonly position: Position;
  readonly event: SessionEvent;
}

const noPreviews: ReadonlySet<string> = new Set();

/** The events of a session in their order, from the beginning of the run at that place. */
async function* readEvents(runs: ReadableRuns, thread: ThreadAddress, from: number): AsyncGenerator<PlacedEvent, void> {
  const { accountId } = thread;
  for (let after = from - 1; ;) {
    const begun = await runs.listBegun(thread, after);
    if (begun.length === 0) return;
    for (const { id: runId, place } of begun) {
      after = place;
      const translator = new AnthropicTranslator(await runs.get({ accountId, runId }), { previews: noPreviews });
      for await (const { data } of readLogPages(runs, { accountId, runId }))
        for (const fact of data)
          for (const [index, event] of translator.translate(fact).events.entries())
            yield { position: { place, seq: fact.seq, units: index + 1 }, event };
    }
  }
}

const toCursor = (position: Position, order: string): string =>
  Buffer.from(`${order} ${writePosition(position)}`).toString('base64url');

function readCursor(cursor: string, order: string): Position {
  const [written, position = ''] = Buffer.from(cursor, 'base64url').toString().split(' ');
  const read = readPosition(position);
  if (!read || written !== order)
    throw new ApiError('invalid_cursor', `page: it is no cursor of this list in the order ${order}`);
  return read;
}

/** A page of the events of a session. Ids and bytes are those that its stream has. */
export async function listEvents(runs: ReadableRuns, thread: ThreadAddress, query: AnthropicEventQuery) {
  const { order, page, limit: wanted } = query;
  const types = new Set([...(query.types ?? []), ...(query['types[]'] ?? [])]);
  const isWanted = ({ event }: PlacedEvent) => types.size === 0 || types.has(event.type);
  const after = page === undefined ? undefined : readCursor(page, order);
  const found: PlacedEvent[] = [];
  for await (const each of readEvents(runs, thread, order === 'asc' ? (after?.place ?? 1) : 1)) {
    if (order === 'desc' && after && comparePositions(each.position, after) >= 0) break;
    if (order === 'asc' && after && comparePositions(each.position, after) <= 0) continue;
    if (isWanted(each)) found.push(each);
    if (order === 'asc' && found.length > wanted) break;
  }
  if (order === 'desc') found.reverse();
  const shown = found.slice(0, wanted);
  const last = shown.at(-1);
  const next_page = found.length > wanted && last ? toCursor(last.position, order) : null;
  return { data: shown.map(({ event }) => event), next_page };
}
