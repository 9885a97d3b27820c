import {
  type AccountSettings,
  type AwaitedChild,
  type RecordedFact,
  type RunId,
  type RunSettings,
  type ToolCall,
  toChildRunId,
  agentId,
  runId,
} from '@rondo/contract';
import { type ActiveAgent, type Claim, ClaimLostError, type ClaimedRun, treeRefusal } from '@rondo/domain';
import type { Sql } from '../../../database/sql';
import { toRun, runRow } from '../../../run-log/run-row';
import { toActive, activeRow, activeVersion } from '../../agents/agent-row';
import { type NewRun, type RunMaker, createRun } from '../create-run';
import type { RunOrigin } from '../insert-run';
import { z } from 'zod';
import { createQuery, jsonDocument } from '../../../database/checked-query';
import { readableJson } from '../../../database/stored-text';

type ChildSettings = { readonly settings: RunSettings } | { readonly problem: string };

/** A call of `run_agent`. */
export interface ChildOrder {
  readonly parent: Claim & Pick<ClaimedRun, 'accountId' | 'run'>;
  readonly call: Pick<ToolCall, 'id'>;
  /** The name or the id of a stored agent of the account. */
  readonly agent: string;
  readonly input: string;
  /** The settings of a run of this agent, or why it can have none. */
  readonly toSettings: (
    agent: Pick<ActiveAgent, 'definition' | 'servers'> & { readonly account: AccountSettings },
  ) => ChildSettings | Promise<ChildSettings>;
}

export type StartedChild =
  | { readonly how: 'refused'; readonly reason: string }
  | { readonly how: 'started'; readonly child: AwaitedChild; readonly facts: readonly RecordedFact[] };

/** The call is not allowed to start a run; the reason is for the model. */
class Refused extends Error {}

/** An earlier attempt at this call has started its run. */
class AlreadyStarted extends Error {}

/**
 * Starts the run of a call, in the transaction that has checked the limits of the tree under locks of its first run and of
 * the parent. Facts to publish; its job is in the outbox. A call that has started a run finds it, without facts.
 */
export async function startChild(maker: RunMaker, order: ChildOrder): Promise<StartedChild> {
  const id = toChildRunId(order.call.id);
  const known = await findStarted(maker.database.sql, id, order);
  if (known) return known;
  try {
    return await startNew(maker, order, id);
  } catch (error) {
    if (error instanceof Refused) return { how: 'refused', reason: error.message };
    const started = error instanceof AlreadyStarted ? await findStarted(maker.database.sql, id, order) : undefined;
    if (!started) throw error;
    return started;
  }
}

const childById = createQuery(
  z.object({ agent_id: agentId.nullable(), agent_name: z.string() }),
  `
select runs.agent_id, coalesce(${readableJson('runs.settings')}->'agent'->>'name', runs.agent_id, '') as agent_name
from runs where id = $1 and parent_run_id = $2`,
);

async function findStarted(sql: Sql, id: RunId, { parent, call }: ChildOrder): Promise<StartedChild | undefined> {
  const row = await childById.first(sql, [id, parent.runId]);
  return row && { how: 'started', child: { run_id: id, tool_call_id: call.id, ...row }, facts: [] };
}

async function startNew(maker: RunMaker, order: ChildOrder, id: RunId): Promise<StartedChild> {
  const { parent, call, input, toSettings } = order;
  const { accountId } = parent;
  const agent = await agentNamed(maker.database.sql, order);
  const outcome = await toSettings(agent);
  if ('problem' in outcome) throw new Refused(`A run of "${agent.name}" cannot start: ${outcome.problem}`);

  const { createdBy, ...origin } = await readOrigin(maker.database.sql, order);
  const { facts } = await createRun(maker, {
    ...{ id, accountId, origin, createdBy, metadata: {}, onActiveRun: 'reject' },
    projectId: parent.run.project_id ?? undefined,
    user: parent.run.user ?? undefined,
    traceId: parent.run.trace_id ?? undefined,
    settings: outcome.settings,
    agent: { id: agent.id, version: agent.version, isNamed: true },
    input: [{ type: 'text', text: input }],
    alongside: (sql) => admit(sql, order, origin),
  });
  const child = { run_id: id, tool_call_id: call.id, agent_id: agent.id, agent_name: agent.name };
  return { how: 'started', child, facts };
}

const namedAgentRow = activeRow.extend({
  name: z.string(),
  account: jsonDocument<AccountSettings>().nullable(),
});

const namedAgent = createQuery(
  namedAgentRow,
  `
select agents.id, agents.name, agents.version, active.definition, active.sealed_headers, accounts.settings as account
from agents join ${activeVersion} join accounts on accounts.id = agents.account_id
where agents.account_id = $1 and (agents.name = $2 or agents.id = $2) order by agents.name = $2 desc limit 1`,
);

const someNames = createQuery(
  z.object({ name: z.string() }),
  `select name from agents where account_id = $1 order by name limit 20`,
);

async function agentNamed(sql: Sql, { parent: { accountId }, agent }: ChildOrder) {
  const row = await namedAgent.first(sql, [accountId, agent]);
  if (row) return { name: row.name, account: row.account ?? {}, ...toActive(row) };
  const others = (await someNames.all(sql, [accountId])).map(({ name }) => `"${name}"`);
  throw new Refused(
    `There is no agent "${agent}". ${others.length > 0 ? `Agents: ${others.join(', ')}.` : 'There are no stored agents.'}`,
  );
}

const selectPlace = createQuery(
  z.object({ root: runId, depth: z.number(), created_by: z.string().nullable() }),
  `select coalesce(root_run_id, id) as root, coalesce(tree_depth, 0) as depth, created_by from runs where id = $1`,
);

/** Never changes once the parent exists, so it is read without a lock. */
async function readOrigin(sql: Sql, { parent, call }: ChildOrder): Promise<RunOrigin & Pick<NewRun, 'createdBy'>> {
  const place = await selectPlace.first(sql, [parent.runId]);
  if (!place) throw new ClaimLostError(parent.runId);
  const origin = { parentRunId: parent.runId, parentCallId: call.id, rootRunId: place.root, depth: place.depth + 1 };
  return { ...origin, createdBy: place.created_by ?? undefined };
}

const lockTree = createQuery(runRow, `select * from runs where id = any($1::text[]) order by id for no key update`);

const treeSize = createQuery(
  z.object({ tree_runs: z.number(), active_children: z.number(), is_started: z.boolean() }),
  `
select (select count(*)::int from runs where root_run_id = $1) as tree_runs,
  (select count(*)::int from runs where parent_run_id = $2 and finished_at is null) as active_children,
  exists (select from runs where id = $3) as is_started`,
);

/** Locks runs in the order of their ids, as every writer of several does. A stop that was requested before wins. */
async function admit(sql: Sql, { parent, call }: ChildOrder, origin: RunOrigin): Promise<void> {
  const { rootRunId, depth } = origin;
  const rows = await lockTree.all(sql, [[...new Set([rootRunId, parent.runId])]]);
  const own = rows.find(({ id }) => id === parent.runId);
  if (own?.epoch !== parent.epoch || own.finished_at !== null) throw new ClaimLostError(parent.runId);

  const values = [rootRunId, parent.runId, toChildRunId(call.id)];
  const size = await treeSize.first(sql, values);
  if (size?.is_started) throw new AlreadyStarted();
  const root = rows.find(({ id }) => id === rootRunId);
  if (!root || root.finished_at !== null) throw new Refused('The first run of this task is over.');
  if (rows.some((row) => row.stop_requested_at !== null)) throw new Refused('A stop of this task was requested.');
  const limits = { root: toRun(root).settings.limits, own: toRun(own).settings.limits };
  const place = { depth: depth - 1, treeRuns: size?.tree_runs ?? 0, activeChildren: size?.active_children ?? 0 };
  const refusal = treeRefusal(limits, place);
  if (refusal !== undefined) throw new Refused(refusal);
}
