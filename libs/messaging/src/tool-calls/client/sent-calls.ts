import { type CallId, type RunId, callId } from '@rondo/contract';
import type { NatsLink } from '../../connection/nats-link';
import type { CallKey } from '../../connection/subjects';
import { type ClaimedCall, CallRecords, withdrawn } from '../call-records';
import type { ToolStreams } from '../tool-streams';
import type { ToolCancel } from '../wire-format';

/** A call that was sent to an executor, which may have run it. The name is empty where the executor was of an older version. */
export interface SentCallRecord extends ClaimedCall {
  readonly id: CallId;
}

interface SearchedRun {
  readonly runId: RunId;
  /** The calls that the log has. */
  readonly known: ReadonlySet<string>;
}

/**
 * Finds the calls of a run that executors have claimed and that its log lacks, because the database lost it. Those that wait in
 * the queue are withdrawn, so that no executor begins them, and those that run are ended. Rejects while JetStream is away.
 */
export async function findUnknownCalls(
  { nats, streams }: { readonly nats: NatsLink; readonly streams: ToolStreams },
  { runId, known }: SearchedRun,
): Promise<readonly SentCallRecord[]> {
  await streams.recheck();
  const { manager: connecting } = streams;
  const { toolCalls, toolTakers } = nats.names;
  const manager = await connecting;
  const subjectsIn = async ({ stream, ofRun }: typeof toolCalls) => {
    const { state } = await manager.streams.info(stream, { subjects_filter: ofRun(runId) });
    return Object.keys(state.subjects ?? {}).map(readSubject);
  };
  const isLost = ({ key }: Found) => !known.has(key.callId);
  for (const { executorId, key } of (await subjectsIn(toolCalls)).filter(isLost))
    await new CallRecords(nats, streams, executorId).claim(key, withdrawn);
  const taken = (await subjectsIn(toolTakers)).filter(isLost);
  const found = await Promise.all(
    taken.map((one) => readClaimed(nats, new CallRecords(nats, streams, one.executorId), one)),
  );
  return found.filter((call) => call !== undefined);
}

interface Found {
  readonly executorId: string;
  readonly key: CallKey;
}

function readSubject(subject: string): Found {
  const [executorId = '', runId = '', call = '', attempt = ''] = subject.split('.').slice(-4);
  return { executorId, key: { runId, callId: call, attempt: Number(attempt) } };
}

async function readClaimed(nats: NatsLink, records: CallRecords, { executorId, key }: Found) {
  const claimed = await records.claimedCall(key);
  if (!claimed || claimed.claimant === withdrawn) return undefined;
  const id = callId.parse(key.callId);
  const cancel = { run_id: key.runId, call_id: id, attempt: key.attempt } as ToolCancel; // the id is part of a subject that we made
  if (!(await records.reply(key))) nats.connection.publish(nats.names.toolCancel(executorId), JSON.stringify(cancel));
  return { ...claimed, id };
}
