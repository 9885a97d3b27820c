import type { AccountId, Agent, AgentSort, SortOrder } from '@rondo/contract';
import { builtInTools } from '@rondo/domain';
import { readableJson, toStoredText } from '../../database/stored-text';
import type { Sql } from '../../database/sql';
import { BoundedList, type Page, type PageRequest } from '../page';
import { columnsInOrder, toCursorText, isAfter, toOrder } from './agent-order';
import { activeVersion, agentColumns, agentRow, definitionLength, toAgent } from './agent-row';

export interface AgentFilter extends PageRequest {
  readonly accountId: AccountId;
  /** A part of the name, in any case. */
  readonly search?: string | undefined;
  /** The agent has all of them. */
  readonly tags?: readonly string[] | undefined;
  readonly isDefault?: boolean | undefined;
  /** Whether its definition names an MCP server. */
  readonly hasMcp?: boolean | undefined;
  /** Its definition names this tool, or else its group, and does not switch it off. */
  readonly tool?: string | undefined;
  readonly sort?: AgentSort | undefined;
  readonly order?: SortOrder | undefined;
}

const definition = readableJson('active.definition');

/** `names`: the tool, and its group. */
const choosesTool = (names: string) => `
exists (
  select from (
    select tools, coalesce(tools -> (${names}::text[])[1], tools -> (${names}::text[])[2]) as choice
    from (select ${definition} -> 'tools' as tools) as defined
  ) as chosen
  where case json_typeof(tools)
    when 'array' then exists (select from json_array_elements_text(tools) as named where named = any(${names}::text[]))
    else choice::text <> 'false' and coalesce(choice ->> 'enabled', 'true') <> 'false'
  end
)`;

const conditions = {
  search: (value: string) => `position(lower(${value}::text) in lower(agents.name)) > 0`,
  tags: (value: string) => `agents.tags @> ${value}::text[]`,
  isDefault: (value: string) => `agents.is_default = ${value}`,
  hasMcp: (value: string) => `(coalesce(json_array_length(${definition} -> 'mcp_servers'), 0) > 0) = ${value}`,
  tool: choosesTool,
} as const;

type Condition = keyof typeof conditions;
const all = Object.keys(conditions) as Condition[]; // the keys of the object above

/**
 * Asks only by the conditions that are given: each connection prepares those statements that are asked for. Rejects with
 * `invalid_cursor`.
 */
export async function listAgents(sql: Sql, { accountId, after, limit, ...filter }: AgentFilter): Promise<Page<Agent>> {
  const order = toOrder(filter.sort, filter.order);
  const parameters: unknown[] = [accountId];
  const parameter = (value: unknown) => `$${parameters.push(value)}`;

  const values = toValues(filter);
  const given = all.filter((condition) => values[condition] !== undefined);
  const where = given.map((condition) => conditions[condition](parameter(values[condition])));
  if (after !== undefined) where.push(isAfter(after, order, parameter));
  const columns = columnsInOrder(order);
  const statement = `select ${agentColumns}, row_number() over (order by ${columns}) as place
    from agents join ${activeVersion}
    where ${['agents.account_id = $1', ...where].join(' and ')}
    order by ${columns} limit $${parameters.length + 1}`;

  const toKey = (agent: Agent) => toCursorText(agent, order);
  const bounds = { order: 'place', length: definitionLength, toKey };
  return new BoundedList(statement, bounds, agentRow.transform(toAgent)).page(sql, parameters, limit);
}

const toValues = ({
  search,
  tool,
  tags,
  isDefault,
  hasMcp,
}: Omit<AgentFilter, 'accountId' | 'limit'>): Readonly<Record<Condition, unknown>> => ({
  search: search === undefined ? undefined : toStoredText(search),
  tags: tags?.map(toStoredText),
  isDefault,
  hasMcp,
  tool: tool === undefined ? undefined : [toStoredText(tool), builtInTools.named(tool)?.group ?? null],
});
