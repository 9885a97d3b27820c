import { type Run, type ThreadId, isTerminal, isTerminalFact } from '@rondo/contract';
import type { LangGraphStreamMode } from '@rondo/contract/api';
import type { Caller, RunAddress } from '@rondo/persistence';
import type { Response } from 'express';
import type { EventFormat } from '../../live/event-stream';
import type { RunWatches } from '../../live/run-watches';
import type { RunService } from '../../runs/run-service';
import type { Position } from '../positions';
import { stopWithClient } from '../stop-with-client';
import type { GraphRun } from './langgraph-runs';
import type { LangGraphThreads } from './langgraph-threads';
import { MessageState, noNames } from './langgraph.messages';
import { readNames } from './langgraph.requests';
import {
  type Frame,
  LangGraphTranslator,
  type TranslatorOptions,
  beginning,
  openStream,
  toSegmentName,
} from './langgraph.translate';

export interface Reader {
  readonly caller: Caller;
  readonly response: Response;
}

interface ReadOptions extends TranslatorOptions {
  readonly threadId: ThreadId;
}

/** While a state is awaited, so that proxies do not close the connection as dead. JSON may begin with spaces. */
const keepAliveMs = 10_000;

/** Requests that last as long as a segment of a run. */
export class LangGraphReader {
  constructor(
    private readonly watches: RunWatches,
    private readonly threads: Pick<LangGraphThreads, 'readStateBefore'>,
    private readonly service: Pick<RunService, 'stop'>,
  ) {}

  stopWithClient({ run }: GraphRun, reader: Reader): void {
    stopWithClient(this.service, run.id, reader);
  }

  /** The frames after a position. The head says where the client comes back to. */
  async stream(
    graphRun: GraphRun,
    reader: Reader,
    wanted: { modes: readonly LangGraphStreamMode[]; from: Position },
  ): Promise<void> {
    const options = toOptions(graphRun, wanted);
    const { begun } = graphRun;
    const query = new URLSearchParams(wanted.modes.map((mode): [string, string] => ['stream_mode', mode]));
    const address = toAddress(graphRun, reader);
    let translator = begun?.isOnNewThread ? new LangGraphTranslator(options, toFirstState(begun.run)) : undefined;
    const format: EventFormat = {
      headers: {
        'Content-Location': toPath(graphRun),
        Location: `${toPath(graphRun)}/stream?${query.toString()}`,
        'Cache-Control': 'no-cache, no-transform',
      },
      opening: openStream(options).map(toEvent).join(''),
      write: (event) => translator?.translate(event).map(toEvent).join('') ?? '',
      isOver: () => translator?.ending !== undefined,
    };
    const reading = { ...reader, after: 0 };
    if (translator) return this.watches.streamAs(format, address, { ...reading, begun });
    const prepare = async (signal: AbortSignal) => {
      translator = await this.createTranslator(options, graphRun, { address, signal });
    };
    return this.watches.streamAs(format, address, { ...reading, prepare });
  }

  /** Answers with the state at the end. Without it, the connection is cut, since the client has the head already. */
  async answer(graphRun: GraphRun, reader: Reader): Promise<void> {
    const { response } = reader;
    response.writeHead(200, {
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Location': toPath(graphRun),
      'Cache-Control': 'no-store, no-transform',
      'X-Accel-Buffering': 'no',
    });
    response.flushHeaders();
    const keepAlive = setInterval(() => response.write(' '), keepAliveMs);
    try {
      response.end(JSON.stringify(toOutput(await this.readWhole(graphRun, reader))));
    } catch {
      response.destroy();
    } finally {
      clearInterval(keepAlive);
    }
  }

  /** Resolves when the run is over. */
  async stop(graphRun: GraphRun, { wait, ...reader }: Reader & { readonly wait: boolean }): Promise<void> {
    const address = toAddress(graphRun, reader);
    const { run } = await this.service.stop(address, 'cancelled by the client');
    if (!wait || isTerminal(run.status)) return;
    const isEnd = (event: { readonly seq: number | null; readonly type: string }) =>
      event.seq !== null && isTerminalFact(event);
    await this.watches.readUntil(address, { ...reader, after: run.last_seq }, isEnd);
  }

  private async readWhole(graphRun: GraphRun, reader: Reader): Promise<LangGraphTranslator> {
    const options = toOptions(graphRun, { modes: [], from: beginning });
    const address = toAddress(graphRun, reader);
    let translator: LangGraphTranslator | undefined;
    const prepare = async (signal: AbortSignal) => {
      translator = await this.createTranslator(options, graphRun, { address, signal });
    };
    await this.watches.readUntil(address, { ...reader, after: 0, prepare }, (event) => {
      translator?.translate(event);
      return translator?.ending !== undefined;
    });
    if (!translator) throw new Error('the events of a run were read before it was prepared for');
    return translator;
  }

  private async createTranslator(
    { threadId, ...options }: ReadOptions,
    { begun }: GraphRun,
    { address, signal }: { readonly address: RunAddress; readonly signal: AbortSignal },
  ) {
    const isQueued = !begun?.facts.some(({ type }) => type === 'message.created');
    if (isQueued) await this.watches.awaitBegun(address, signal);
    const thread = { accountId: address.accountId, threadId };
    return new LangGraphTranslator(options, await this.threads.readStateBefore(thread, address.runId));
  }
}

/** Of a thread whose first run this is. */
function toFirstState({ id, metadata }: Run): MessageState {
  const input = readNames(metadata);
  return new MessageState({ ...noNames, inputs: (runId) => (runId === id ? input : undefined) });
}

const toAddress = ({ run }: GraphRun, { caller: { accountId } }: Pick<Reader, 'caller'>): RunAddress => ({
  accountId,
  runId: run.id,
});

const toOptions = (
  { run, segment, threadName }: GraphRun,
  { modes, from }: { readonly modes: readonly LangGraphStreamMode[]; readonly from: Position },
): ReadOptions => ({
  segment,
  runName: toSegmentName(segment),
  threadName,
  threadId: run.thread_id,
  modes: new Set(modes),
  from,
});

/** Below the address of the façade, which the client has before it. */
const toPath = ({ segment, threadName }: GraphRun): string =>
  `/threads/${encodeURIComponent(threadName)}/runs/${toSegmentName(segment)}`;

const toEvent = ({ event, id, data }: Frame): string => `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

function toOutput({ ending, messages }: LangGraphTranslator): object {
  if (ending?.status === 'error') return { __error__: ending.error };
  const isAsking = ending?.status === 'interrupted' && ending.interrupts.length > 0;
  return { messages, ...(isAsking && { __interrupt__: ending.interrupts }) };
}
