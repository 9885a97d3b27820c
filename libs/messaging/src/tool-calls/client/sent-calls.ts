import { type CallId, type RunId, callId } from '@rondo/contract';
import type { NatsLink } from '../../connection/nats-link';
import { shareNextRound } from '../../connection/share-next-round';
import type { CallKey, WireNames } from '../../connection/subjects';
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

/** The most subjects that NATS lists in one answer. */
const mostListed = 100_000;

interface UnknownCallsParts {
  readonly nats: NatsLink;
  readonly streams: ToolStreams;
}

/**
 * Looks for calls that executors have claimed and that the log of their run lacks, because the database lost them. Runs that are
 * looked for while a search is under way share the next one: after a failover, all runs of a process are claimed at once, and for
 * each list NATS looks through all that it keeps.
 */
export class UnknownCalls {
  private wanted: SearchedRun[] = [];
  private readonly searchNext = shareNextRound(() => this.search(this.wanted.splice(0)));

  constructor(private readonly parts: UnknownCallsParts) {}

  /**
   * Those of the run. A call that waits in the queue is withdrawn, so that no executor begins it, and one that runs is ended.
   * Rejects while JetStream is away.
   */
  async find(run: SearchedRun): Promise<readonly SentCallRecord[]> {
    this.wanted.push(run);
    const found = await this.searchNext();
    return found.get(run.runId) ?? [];
  }

  private async search(runs: readonly SearchedRun[]): Promise<ReadonlyMap<string, readonly SentCallRecord[]>> {
    const { toolCalls, toolTakers } = this.parts.nats.names;
    await this.parts.streams.recheck();
    for (const { executorId, key } of await this.listUnknown(toolCalls, runs))
      await this.openRecords(executorId).claim(key, withdrawn);
    const byRun = new Map<string, SentCallRecord[]>(runs.map(({ runId }) => [runId, []]));
    for (const unknown of await this.listUnknown(toolTakers, runs)) {
      const call = await this.readClaimed(unknown);
      if (call) byRun.get(unknown.key.runId)?.push(call);
    }
    return byRun;
  }

  /** One list of everything serves several runs. Where it would be long, each run has its own, one after the other. */
  private async listUnknown({ stream, all, ofRun }: Records, runs: readonly SearchedRun[]): Promise<ListedCall[]> {
    const { streams } = await this.parts.streams.manager;
    const list = async (filter: string) => {
      const { state } = await streams.info(stream, { subjects_filter: filter });
      return Object.keys(state.subjects ?? {}).map(readSubject);
    };
    const isShort = async () => ((await streams.info(stream)).state.num_subjects ?? 0) <= mostListed;
    const filters = runs.length > 1 && (await isShort()) ? [all] : runs.map(({ runId }) => ofRun(runId));
    const known = new Map<string, ReadonlySet<string>>(runs.map((run) => [run.runId, run.known]));
    const unknown: ListedCall[] = [];
    for (const filter of filters)
      unknown.push(...(await list(filter)).filter(({ key }) => known.get(key.runId)?.has(key.callId) === false));
    return unknown;
  }

  private async readClaimed({ executorId, key }: ListedCall): Promise<SentCallRecord | undefined> {
    const { nats } = this.parts;
    const records = this.openRecords(executorId);
    const claimed = await records.readClaimedCall(key);
    if (!claimed || claimed.claimant === withdrawn) return undefined;
    const id = callId.parse(key.callId);
    const cancel = { run_id: key.runId, call_id: id, attempt: key.attempt } as ToolCancel; // the id is part of a subject that we made
    if (!(await records.reply(key))) nats.connection.publish(nats.names.toolCancel(executorId), JSON.stringify(cancel));
    return { ...claimed, id };
  }

  private openRecords(executorId: string): CallRecords {
    return new CallRecords(this.parts.nats, this.parts.streams, executorId);
  }
}

type Records = Pick<WireNames['toolTakers'], 'stream' | 'all' | 'ofRun'>;

interface ListedCall {
  readonly executorId: string;
  readonly key: CallKey;
}

function readSubject(subject: string): ListedCall {
  const [executorId = '', runId = '', call = '', attempt = ''] = subject.split('.').slice(-4);
  return { executorId, key: { runId, callId: call, attempt: Number(attempt) } };
}
