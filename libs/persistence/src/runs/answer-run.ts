import { type InputBlock, type Mint, type RecordedFact, type Run, TerminalError } from '@rondo/domain';
import type { Database } from '../database';
import { type Promised, keepPromise } from '../idempotency-keys';
import { runOf } from '../run-row';
import { activateRun } from '../run-store/activation';
import { batchOf } from '../run-store/batch';
import { writeBatch } from '../run-store/group-commit';
import { inputFact } from './input-message';
import { type RunAddress, lockRun, readRun } from './lock-run';

export interface Answer extends RunAddress {
  readonly content: readonly InputBlock[];
  readonly promised?: Promised<Run> | undefined;
}

export interface AnsweredRun {
  readonly run: Run;
  /** Committed facts to publish. */
  readonly facts: readonly RecordedFact[];
}

export const answerRun = (database: Database, mint: Mint, answer: Answer): Promise<AnsweredRun> =>
  database.transaction(async (sql) => {
    const { id: runId, thread_id: threadId, status, epoch, iteration, waiting } = runOf(await lockRun(sql, answer));
    if (status !== 'waiting_input') throw new TerminalError('run_not_waiting', `${runId} does not wait for input.`);

    const asked = waiting?.question?.tool_call_id;
    const metadata = asked === undefined ? {} : { answers_tool_call_id: asked };
    const input = inputFact({ runId, threadId, iteration, content: answer.content, metadata }, mint);
    const resumed = { type: 'run.resumed' as const, iteration, data: { reason: 'input' } };
    const facts = await writeBatch(sql, batchOf({ runId, threadId, epoch }, [resumed, input], mint));
    await activateRun(sql, runId);
    const run = await keepPromise(sql, answer.promised, runOf(await readRun(sql, runId)));
    return { run, facts };
  });
