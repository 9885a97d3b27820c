import { type Agent, type AgentSort, type SortOrder, agentId } from '@rondo/contract';
import { z } from 'zod';
import { toStoredText } from '../../database/stored-text';
import { invalidCursor } from '../page';

interface Sorting {
  readonly usual: SortOrder;
  /** The column before the id. Ids alone are in the order of creation. */
  readonly column?: string;
  /** The value of the column, as text. */
  readonly toKey: (agent: Agent) => string;
  readonly key: z.ZodType<string>;
  /** The column's value of a key. */
  readonly read: (value: string) => string;
}

const sortings: Readonly<Record<AgentSort, Sorting>> = {
  created_at: { usual: 'desc', toKey: () => '', key: z.literal(''), read: (value) => value },
  updated_at: {
    usual: 'desc',
    column: 'agents.updated_at',
    toKey: (agent) => agent.updated_at,
    key: z.iso.datetime(),
    read: (value) => `${value}::timestamptz`,
  },
  name: {
    usual: 'asc',
    column: 'lower(agents.name)',
    toKey: ({ definition }) => toStoredText(definition.name),
    key: z.string().max(200),
    read: (value) => `lower(${value}::text)`,
  },
};

export interface AgentOrder {
  readonly sort: AgentSort;
  readonly order: SortOrder;
}

/** Names begin with the first letters, times with the newest. */
export const toOrder = (sort: AgentSort = 'created_at', order?: SortOrder): AgentOrder => ({
  sort,
  order: order ?? sortings[sort].usual,
});

/** What is sorted by, for `order by`. The id comes last, so that no two agents are at the same place. */
export function columnsInOrder({ sort, order }: AgentOrder): string {
  const { column } = sortings[sort];
  return [...(column === undefined ? [] : [column]), 'agents.id'].map((each) => `${each} ${order}`).join(', ');
}

/** The condition that an agent comes after the one of the cursor. Throws `invalid_cursor` for one of another order. */
export function isAfter(cursor: string, { sort, order }: AgentOrder, parameter: (value: string) => string): string {
  const { column, read, key: keyShape } = sortings[sort];
  const [sorted, ordered, id, ...rest] = Buffer.from(cursor, 'base64url').toString().split(' ');
  const key = rest.join(' ');
  if (sorted !== sort || ordered !== order) throw invalidCursor();
  if (!agentId.safeParse(id).success || !keyShape.safeParse(key).success) throw invalidCursor();
  const than = order === 'asc' ? '>' : '<';
  if (column === undefined) return `agents.id ${than} ${parameter(id ?? '')}`;
  return `(${column}, agents.id) ${than} (${read(parameter(key))}, ${parameter(id ?? '')})`;
}

/** The text of the cursor at an agent. */
export const toCursorText = (agent: Agent, { sort, order }: AgentOrder): string =>
  [sort, order, agent.id, sortings[sort].toKey(agent)].join(' ');
