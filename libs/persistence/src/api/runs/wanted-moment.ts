import {
  type AccountId,
  type MessageId,
  type RunId,
  callId,
  effectClass,
  forkOrigin,
  runId,
  threadId,
  toolCallStatus,
} from '@rondo/contract';
import { TerminalError } from '@rondo/domain';
import { z } from 'zod';
import { createQuery } from '../../database/checked-query';
import type { Sql } from '../../database/sql';
import { toWorkspace } from '../../run-log/run-row';
import { type RunAddress, runNotFound } from './lock-run';
import { readForkPoint } from './forks/fork-run';
import { readableJson } from '../../database/stored-text';

/** After a fact of a run, cut back as a fork is; or before a message that a person wrote; or before the first call of a run. */
export type MomentAddress =
  | (RunAddress & { readonly atSeq?: number | undefined })
  | { readonly accountId: AccountId; readonly messageId: MessageId };

/** A moment of a workspace, as the log names it. */
export interface WantedMoment extends Omit<z.infer<typeof momentRow>, 'trimmed' | 'origin'> {
  /** The calls of the run up to that fact. Before the first, this is 0. */
  readonly seq: number;
  /** What an executor may have kept the files for: the run, and those calls, the newest of them. */
  readonly keys: readonly string[];
}

const mostKeys = 5_000;

const momentRow = z.object({
  runId,
  threadId,
  workspaceId: threadId,
  isShared: z.boolean(),
  executorId: z.string().nullable(),
  trimmed: z.number(),
  origin: forkOrigin.nullable(),
});

const place = (condition: string) => `
select runs.id as "runId", runs.thread_id as "threadId", workspace.id as "workspaceId",
  workspace.id <> runs.thread_id as "isShared", runs.events_trimmed_through as trimmed, runs.forked_from as origin,
  (select executor_id from sandboxes where sandboxes.thread_id = workspace.id) as "executorId"
from runs join threads on threads.id = runs.thread_id,
  lateral (select ${toWorkspace('runs.project_id', 'runs.thread_id')} as id) as workspace
where runs.account_id = $2 and threads.deleted_at is null and ${condition}`;

const ofRun = createQuery(momentRow, place('runs.id = $1'));
const ofMessage = createQuery(momentRow, place('runs.id = (select run_id from messages where id = $1)'));

const seqOfMessage = createQuery(
  z.object({ seq: z.number() }),
  `select seq from run_events where run_id = $1 and type = 'message.created' and ${readableJson('data')}->'message'->>'id' = $2`,
);

const callsUntil = createQuery(
  z.object({ id: callId }),
  `
select distinct ${readableJson('data')}->>'tool_call_id' as id from run_events where run_id = $1 and type = 'tool.started' and seq <= $2
order by id desc limit ${mostKeys - 1}`,
);

export async function readWantedMoment(sql: Sql, address: MomentAddress): Promise<WantedMoment> {
  const { accountId } = address;
  const isOfMessage = 'messageId' in address;
  const found = isOfMessage
    ? await ofMessage.first(sql, [address.messageId, accountId])
    : await ofRun.first(sql, [address.runId, accountId]);
  if (!found) {
    if (!isOfMessage) throw runNotFound(address.runId);
    throw new TerminalError('files_not_kept', `No run has begun with ${address.messageId}, or it does not exist.`);
  }
  const { trimmed, origin, ...row } = found;
  if (trimmed > 0) throw new TerminalError('log_trimmed', `The first facts of ${row.runId} were deleted by retention.`);
  const seq = await readSeq(sql, address, row.runId);
  if (origin && !isOfMessage && address.atSeq !== undefined && seq < origin.seq)
    return readMomentOfOrigin(sql, { accountId, runId: origin.run_id, atSeq: seq });
  const calls = await callsUntil.all(sql, [row.runId, seq]);
  return { ...row, seq, keys: [row.runId, ...calls.map(({ id }) => id)] };
}

/** What a fork shares with its origin happened in the workspace of that one. */
const readMomentOfOrigin = (sql: Sql, address: RunAddress & { readonly atSeq: number }): Promise<WantedMoment> =>
  readWantedMoment(sql, address).catch((error: unknown) => {
    if (!(error instanceof TerminalError)) throw error;
    const why = `They are those of ${address.runId}, from which the run was forked: ${error.message}`;
    throw new TerminalError('files_not_kept', why, { cause: error });
  });

async function readSeq(sql: Sql, address: MomentAddress, run: RunId): Promise<number> {
  if ('messageId' in address) return (await seqOfMessage.first(sql, [run, address.messageId]))?.seq ?? 0;
  const { accountId, atSeq } = address;
  return atSeq === undefined ? 0 : (await readForkPoint(sql, { accountId, runId: run, atSeq })).point.seq;
}

const effectRow = z.object({
  tool_call_id: callId,
  run_id: runId,
  name: z.string(),
  effect_class: effectClass,
  status: toolCallStatus,
  started_at: z.date(),
});

const longestList = 100;

const effectsAfter = createQuery(
  effectRow,
  `
select tool_calls.id as tool_call_id, run_id, name, effect_class, tool_calls.status, tool_calls.started_at
from tool_calls join runs on runs.id = run_id
where runs.thread_id = $1 and effect_class in ('keyed', 'unsafe') and tool_calls.started_at is not null
  and run_id >= $2 and not tool_calls.id = any($3::text[])
order by tool_calls.started_at, tool_calls.id limit ${longestList + 1}`,
);

/** Calls of the thread after that moment, whose effects a return of the files does not take back. */
export async function readEffectsAfter(sql: Sql, { threadId: thread, runId: run, keys }: WantedMoment) {
  const rows = await effectsAfter.all(sql, [thread, run, keys]);
  const effects = rows
    .slice(0, longestList)
    .map(({ started_at, ...call }) => ({ ...call, started_at: started_at.toISOString() }));
  return { effects, effects_truncated: rows.length > longestList };
}
