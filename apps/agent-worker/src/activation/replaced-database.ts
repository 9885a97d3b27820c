import { type NewFact, type RunId, isTerminal, readIncarnation } from '@rondo/contract';
import { type AgentPorts, type ClaimedRun, type LostCall, idGenerator, noteReplacedDatabase } from '@rondo/domain';
import { type NatsLink, type ToolStreams, UnknownCalls } from '@rondo/messaging';
import { type Database, readCallIds } from '@rondo/persistence';
import { newUlid } from '@rondo/platform';
import { setTimeout as sleep } from 'node:timers/promises';

export interface ReplacedDatabaseParts {
  /** The calls of the run that the ledger has. */
  readonly knownCalls: (runId: RunId) => Promise<readonly string[]>;
  /** Calls that executors have taken and that are not among these. Rejects while it cannot be told. */
  readonly findUnknownCalls: (runId: RunId, known: ReadonlySet<string>) => Promise<readonly LostCall[]>;
  readonly ids: Pick<AgentPorts['ids'], 'messageId'>;
  readonly failed: (error: unknown) => void;
}

const retryMs = 1_000;

/**
 * What a run records first when it is claimed for the first time after its database was replaced: nothing for any other claim.
 * It waits for NATS, which alone knows of the calls that the database lacks. Nothing also after an abort.
 */
export async function recordReplacement(
  { knownCalls, findUnknownCalls: find, ids, failed }: ReplacedDatabaseParts,
  claim: ClaimedRun,
  signal: AbortSignal,
): Promise<readonly NewFact[]> {
  const incarnation = readIncarnation(claim.epoch);
  const isRecorded = ({ type, epoch }: { type: string; epoch: number }) =>
    type === 'database.replaced' && readIncarnation(epoch) === incarnation;
  if (incarnation === 0 || isTerminal(claim.run.status) || claim.log.some(isRecorded)) return [];

  const callIds = new Set(await knownCalls(claim.runId));
  while (!signal.aborted) {
    try {
      return noteReplacedDatabase(claim, await find(claim.runId, callIds), ids);
    } catch (error) {
      failed(error);
      await sleep(retryMs, undefined, { signal }).catch(() => undefined); // the run is stopped or left
    }
  }
  return [];
}

interface Adapters {
  readonly database: Database;
  readonly nats: NatsLink;
  readonly toolStreams: ToolStreams;
}

/** The same with the ledger in Postgres and the records of calls in NATS. */
export function createReplacementRecord(
  { database, nats, toolStreams: streams }: Adapters,
  failed: (error: unknown) => void,
): (claim: ClaimedRun, signal: AbortSignal) => Promise<readonly NewFact[]> {
  const calls = new UnknownCalls({ nats, streams });
  const parts: ReplacedDatabaseParts = {
    knownCalls: (runId) => readCallIds(database, runId),
    findUnknownCalls: (runId, known) => calls.find({ runId, known }),
    ids: idGenerator(newUlid),
    failed,
  };
  return (claim, signal) => recordReplacement(parts, claim, signal);
}
