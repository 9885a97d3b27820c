import type { FileId, InputBlock, RecordedFact, Run, Waiting } from '@rondo/contract';
import { TerminalError } from '@rondo/domain';
import { fileMetadata, imagesAmong, insertRunFiles, placeFiles, readFiles, withNote } from '../files/run-files';
import { referToImages, storeImages } from '../blobs/message-images';
import { type QuotaBounds, writeWithin } from '../billing/quota-bounds';
import { type PendingKey, storeResponse } from '../idempotency-keys';
import { toRun } from '../../run-log/run-row';
import { activateRun } from '../../database/run-activation';
import type { Sql } from '../../database/sql';
import { writeFacts } from '../../run-log/group-commit';
import { requireThreadCapacity } from '../thread-row';
import type { RunMaker } from './create-run';
import { inputFact } from './input-message';
import { type RunAddress, lockRun, readRun } from './lock-run';

export interface Answer extends RunAddress {
  readonly content: readonly InputBlock[];
  readonly files?: readonly FileId[] | undefined;
  readonly promised?: PendingKey<Run> | undefined;
  /** Rejects with QuotaReached. */
  readonly bounds?: QuotaBounds | undefined;
}

export interface AnsweredRun {
  readonly run: Run;
  /** Committed facts to publish. */
  readonly facts: readonly RecordedFact[];
}

type Answering = Pick<RunMaker, 'database' | 'newId' | 'limits'>;

export const answerRun = ({ database, ...parts }: Answering, answer: Answer): Promise<AnsweredRun> =>
  database.transaction((sql) => writeWithin(sql, answer, () => writeAnswer(sql, parts, answer)));

async function writeAnswer(
  sql: Sql,
  { newId, limits }: Omit<Answering, 'database'>,
  answer: Answer,
): Promise<AnsweredRun> {
  const { accountId } = answer;
  const files = await readFiles(sql, accountId, answer.files ?? []);
  const given = [...answer.content, ...(await imagesAmong(sql, files))];
  const content = await storeImages(sql, { accountId, content: given, field: 'content' });
  const {
    id: runId,
    settings,
    thread_id: threadId,
    status,
    epoch,
    iteration,
    waiting,
  } = toRun(await lockRun(sql, answer));
  const asked = waiting?.question?.tool_call_id;
  if (status !== 'waiting_input' || waiting?.reason !== 'ask')
    throw new TerminalError('run_not_waiting', `${runId} does not wait for input${suggestInstead(waiting)}.`);

  await requireThreadCapacity(sql, threadId, limits);
  await referToImages(sql, { accountId, threadId }, content);
  const placed = await placeFiles(sql, threadId, files);
  await insertRunFiles(sql, { runId, threadId }, placed);
  const metadata = { ...(asked !== undefined && { answers_tool_call_id: asked }), ...fileMetadata(placed) };
  const said = { content: withNote(content, placed, settings.profile), metadata };
  const input = inputFact({ runId, threadId, iteration, ...said }, newId);
  const resumed = { type: 'run.resumed' as const, iteration, data: { reason: 'input' } };
  const facts = await writeFacts(sql, { runId, threadId, epoch }, { facts: [resumed, input], newId });
  await activateRun(sql, runId);
  const run = await storeResponse(sql, answer.promised, toRun(await readRun(sql, runId)));
  return { run, facts };
}

function suggestInstead(waiting: Waiting | null): string {
  if (waiting?.reason === 'tool_unknown')
    return `, but for what became of a tool call: POST /v1/tool-calls/${waiting.question?.tool_call_id ?? '{id}'}/resolve`;
  if (waiting?.reason === 'budget') return ', but for a higher budget: POST /v1/runs/{id}/budget';
  if (waiting?.reason === 'child_runs') return ', but for its child runs';
  if (waiting?.reason === 'caller_tools')
    return `, but for a result of its caller: POST /v1/tool-calls/${waiting.tool_calls?.[0]?.tool_call_id ?? '{id}'}/result`;
  if (waiting?.reason === 'elicitation')
    return `, but for an answer to an MCP server: POST /v1/tool-calls/${waiting.question?.tool_call_id ?? '{id}'}/input`;
  if (waiting?.reason === 'approval')
    return `, but for an approval: POST /v1/approvals/${waiting.approvals?.[0]?.approval_id ?? '{id}'}/decision`;
  return '';
}
