import type { AccountId, SortOrder } from '@rondo/contract';
import { z } from 'zod';
import { createQuery, timeColumn } from '../../database/checked-query';
import { readableJson, toStoredText } from '../../database/stored-text';
import type { Sql } from '../../database/sql';
import { activeVersion } from './agent-row';

/** What stands in a list beside the stored agents. */
interface OtherName {
  readonly id: string;
  readonly name: string;
  readonly version: number;
  readonly created_at: string;
  readonly updated_at: string;
}

export interface NameFilter {
  readonly accountId: AccountId;
  /** A part of the name, in any case. */
  readonly search?: string | undefined;
  /** The whole name. */
  readonly name?: string | undefined;
  readonly besides?: readonly OtherName[];
}

export interface NameRange extends NameFilter {
  readonly sort: 'id' | 'name' | 'created_at' | 'updated_at';
  readonly order: SortOrder;
  readonly limit: number;
  readonly offset: number;
}

const namedAgent = z.object({
  id: z.string(),
  name: z.string(),
  version: z.number(),
  description: z.string().nullable(),
  created_at: timeColumn,
  updated_at: timeColumn,
});
/** An agent without its definition, which may be long. */
export type NamedAgent = z.infer<typeof namedAgent>;

const listed = `(
  select id, name, version, created_at, updated_at from agents where account_id = $1
  union all
  select * from json_to_recordset($2::json)
    as besides(id text, name text, version int, created_at timestamptz, updated_at timestamptz)
) as listed
where ($3::text is null or position(lower($3) in lower(name)) > 0) and ($4::text is null or name = $4)`;

const count = createQuery(z.object({ count: z.number() }), `select count(*)::int as count from ${listed}`);

/** The definitions of the range are read, and no others. */
const inOrder = (columns: string) =>
  createQuery(
    namedAgent,
    `
select agents.id, agents.name, agents.version, agents.created_at, agents.updated_at,
  ${readableJson('active.definition')} ->> 'description' as description
from (select *, row_number() over (order by ${columns}) as place from ${listed} order by place limit $5 offset $6) as agents
left join ${activeVersion} order by place`,
  );

const sortings = { id: 'id', name: 'lower(name)', created_at: 'created_at', updated_at: 'updated_at' } as const;

const toValues = ({ accountId, search, name, besides = [] }: NameFilter): unknown[] => [
  ...[accountId, JSON.stringify(besides)],
  ...[search, name].map((text) => (text === undefined ? null : toStoredText(text))),
];

export function listAgentNames(sql: Sql, { sort, order, limit, offset, ...filter }: NameRange): Promise<NamedAgent[]> {
  const statement = inOrder(`${sortings[sort]} ${order}, id ${order}`);
  return statement.all(sql, [...toValues(filter), limit, offset]);
}

export async function countAgentNames(sql: Sql, filter: NameFilter): Promise<number> {
  return (await count.first(sql, toValues(filter)))?.count ?? 0;
}
