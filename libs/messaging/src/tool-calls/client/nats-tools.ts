import { setMaxListeners } from 'node:events';
import {
  type AccountId,
  type CallId,
  type Delta,
  type ExecutorResult,
  type McpServer,
  type RunId,
  type RunSettings,
  type ThreadId,
  type ToolCall,
  type ToolSource,
  toSandboxTerms,
} from '@rondo/contract';
import {
  type CallToSend,
  type SentCall,
  type StoppedTool,
  type ToolDefinition,
  type ToolSet,
  type Tools,
} from '@rondo/domain';
import type { Msg } from 'nats';
import type { NatsLink } from '../../connection/nats-link';
import { readReceived } from '../../connection/received';
import { CallRecords } from '../call-records';
import { requestRunEnd } from '../sandbox-requests';
import type { ToolStreams } from '../tool-streams';
import { type DispatchedCall, type ExecutorAnswer, toolProgress } from '../wire-format';
import type { PendingCancellations, Sent } from './call-cancellation';
import { OpenCall, type OwnCall, type ToolTiming } from './open-call';
import type { QueueShares } from './queue-shares';

export interface NatsToolsOptions {
  readonly nats: NatsLink;
  readonly streams: ToolStreams;
  readonly pendingCancellations: PendingCancellations;
  /** Absent: the bytes that an account has in the queue are not limited. */
  readonly shares?: QueueShares;
  readonly runId: RunId;
  readonly accountId: AccountId;
  readonly threadId: ThreadId;
  /** The number of the run's claim. */
  readonly epoch: number;
  /** The executor that hosts the thread's sandbox. Rejects with a TerminalError when a retry cannot help. */
  readonly placement: (threadId: ThreadId) => Promise<string>;
  /** Who hosts sandboxes that move. Absent: none does. */
  readonly moves?: SandboxMoves;
  /** Receives what running commands print, as it arrives. */
  readonly onOutput: (delta: Delta) => void;
  /** The tools of the run, which say how long a call may take. */
  readonly toolSet: Pick<ToolSet, 'named'>;
  /** Those that the run names: executors know no servers. */
  readonly mcpServers?: readonly McpServer[];
  /** The names of the secrets that the run's sandbox may use. */
  readonly secrets?: readonly string[];
  /** The skills whose files commands and tools of files see. */
  readonly skills?: RunSettings['skills'];
  /** What the sandbox has and may reach. */
  readonly environment?: RunSettings['environment'];
  /** How long a call of a tool of this run may take. */
  readonly toTimeoutMs?: (tool: ToolDefinition | undefined) => number;
  /** The same while its server reports progress. Undefined where reports do not count. */
  readonly toMostMs?: (tool: ToolDefinition | undefined) => number | undefined;
  /** The span of a call, where the run is traced. */
  readonly toTraceparent?: ((call: ToolCall) => string) | undefined;
  readonly timing?: Partial<ToolTiming>;
}

export interface SandboxMoves {
  /** Whether an executor has been away for so long that its sandboxes are moved. */
  readonly isLost: (executorId: string) => boolean;
  /**
   * The executor that hosts the thread's sandbox now, after it was moved from a lost one. `unsent`: calls that were recorded
   * as sent, and were certainly not. Rejects with a TransientError while it is being moved.
   */
  readonly readHost: (threadId: ThreadId, unsent: readonly CallId[]) => Promise<string>;
}

const defaultTiming: ToolTiming = { checkEveryMs: 2_000, patienceMs: 120_000, stopTimeoutMs: 3_000 };
/** How long a call waits for its task, beside the limits of its run. */
const longestTaskMs = 3_600_000;
const usualTimeoutMs = 600_000;

/** The tools of one activation of a run: its calls go over NATS to the executor that hosts the thread. Must be closed. */
export class NatsTools implements Tools<ExecutorResult> {
  private readonly open = new Map<string, OpenCall>();
  private readonly timing: ToolTiming;
  private readonly cleanups: (() => void)[] = [];
  private closed: Error | undefined;
  private placed: Promise<CallRecords> | undefined;
  private stopListening: (() => void) | undefined;

  constructor(private readonly options: NatsToolsOptions) {
    this.timing = { ...defaultTiming, ...options.timing };
    options.streams.ensure().catch((error: unknown) => {
      options.nats.log.warn({ error }, 'tool streams were not reached, retrying at the first call');
    });
  }

  get store(): string | null {
    return this.options.streams.store;
  }

  execute(call: CallToSend, signal: AbortSignal): Promise<ExecutorAnswer> {
    return this.follow(call, signal, 'no');
  }

  reattach({ call, store }: SentCall, signal: AbortSignal): Promise<ExecutorAnswer> {
    return this.follow(call, signal, { into: store, isSeen: false });
  }

  async endRun(withinMs: number): Promise<readonly StoppedTool[] | undefined> {
    const { nats, runId, threadId } = this.options;
    const placed = await this.place().catch(() => undefined);
    return placed && requestRunEnd(nats, placed.executorId, { runId, threadId, timeoutMs: withinMs });
  }

  /** Rejects the answers of open calls with `reason`. The calls go on, and the next holder of the run finds them. */
  close(reason: Error): void {
    this.closed ??= reason;
    for (const cleanUp of this.cleanups.splice(0)) cleanUp();
    this.stopListening?.();
    for (const call of this.open.values()) call.abandon(reason);
  }

  private async follow(call: CallToSend, signal: AbortSignal, sent: Sent): Promise<ExecutorAnswer> {
    if (this.closed) throw this.closed;
    if (this.cleanups.length === 0) this.keepAdvancing();

    const { nats, streams, pendingCancellations, shares } = this.options;
    const parts = {
      ...{ nats, streams, pendingCancellations, timing: this.timing },
      ...(shares && { shares }),
      records: () => this.place(),
      recordsToSend: () => this.placeToSend(),
      isLost: (executorId: string) => this.options.moves?.isLost(executorId) ?? false,
      moved: () => this.placeAnew(),
    };
    const open = new OpenCall(parts, this.dispatch(call), sent);
    const stop = () => open.stop();
    this.open.set(call.id, open);
    setMaxListeners(0, signal); // many calls may wait on one stop
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    void open.advance();
    try {
      return await open.answer;
    } finally {
      signal.removeEventListener('abort', stop);
      this.open.delete(call.id);
    }
  }

  /** A thread stays at its executor, unless that one is lost. So it is requested once, and again only after a failure. */
  private place(): Promise<CallRecords> {
    return (this.placed ??= this.toRecords(this.options.placement(this.options.threadId)));
  }

  /** A call that was sent, of this activation or of one before, has its records at the executor that it was sent to. */
  private async placeToSend(): Promise<CallRecords> {
    const placed = await this.place();
    const isLost = this.options.moves?.isLost(placed.executorId);
    if (!isLost || [...this.open.values()].some(({ isSent }) => isSent)) return placed;
    this.placeAnew();
    return this.place();
  }

  private placeAnew(): void {
    const { moves, threadId } = this.options;
    const unsent = [...this.open.values()].filter(({ isSent }) => !isSent).map(({ callId }) => callId);
    if (moves) this.placed = this.toRecords(moves.readHost(threadId, unsent));
    this.placed?.catch(() => undefined); // the next step of a call reports it
  }

  private async toRecords(placement: Promise<string>): Promise<CallRecords> {
    const { nats, streams } = this.options;
    try {
      const executorId = await placement;
      if (!this.closed) this.subscribe(executorId);
      return new CallRecords(nats, streams, executorId);
    } catch (error) {
      this.placed = undefined;
      throw error;
    }
  }

  private dispatch(call: CallToSend): OwnCall {
    const {
      runId,
      accountId,
      threadId,
      epoch,
      toolSet,
      toTimeoutMs,
      toMostMs,
      toTraceparent,
      secrets = [],
      skills = [],
      environment,
    } = this.options;
    const tool = toolSet.named(call.name);
    const timeoutMs = toTimeoutMs?.(tool) ?? tool?.timeoutMs ?? usualTimeoutMs;
    const mostWithProgressMs = toMostMs?.(tool);
    const mostMs = call.task && mostWithProgressMs !== undefined ? longestTaskMs : mostWithProgressMs;
    const mcp = this.findServer(tool?.source);
    const terms = toSandboxTerms(environment);
    return {
      call_id: call.id,
      run_id: runId,
      thread_id: threadId,
      account_id: accountId,
      epoch,
      name: call.name,
      arguments: call.arguments,
      effect_class: call.effect_class,
      attempt: call.attempt,
      timeout_ms: timeoutMs,
      ...(mostMs !== undefined && { most_ms: mostMs }),
      ...(mcp && { mcp }),
      ...(call.input && { input: call.input }),
      ...(call.task && { task: call.task }),
      ...(call.answers && { answers: [...call.answers] }),
      ...(secrets.length > 0 && { secrets: [...secrets] }),
      ...(skills.length > 0 && { skills: skills.map(({ description: _, ...skill }) => skill) }),
      ...(terms && { sandbox: terms }),
      ...(toTraceparent && { traceparent: toTraceparent(call) }),
    };
  }

  private findServer(source: ToolSource | undefined): DispatchedCall['mcp'] {
    if (source?.kind !== 'mcp') return undefined;
    const server = this.options.mcpServers?.find(({ name }) => name === source.server);
    return server && { server, tool: source.tool, fingerprint: source.fingerprint };
  }

  /** One subscription for all calls of the run. The server receives it before the first call, so no reply is missed. */
  private subscribe(executorId: string): void {
    const { nats, runId } = this.options;
    const subscription = nats.connection.subscribe(nats.names.toolNews(executorId, runId), {
      callback: (error, message) => {
        if (error) nats.log.error({ runId, error }, 'tool progress subscription ended');
        else this.onProgress(message);
      },
    });
    this.stopListening?.();
    this.stopListening = () => subscription.unsubscribe();
  }

  private keepAdvancing(): void {
    const { nats } = this.options;
    const advanceAll = () => this.open.forEach((call) => void call.advance());
    const timer = setInterval(advanceAll, this.timing.checkEveryMs);
    this.cleanups.push(() => clearInterval(timer), nats.onReconnect(advanceAll));
  }

  private onProgress(message: Msg): void {
    const progress = readReceived(toolProgress, message, this.options.nats.log);
    if (!progress) return;
    const { call_id: streamId, attempt, output, reply } = progress;
    const call = this.open.get(streamId);
    if (call?.key.attempt !== attempt) return;
    if (output) this.options.onOutput({ type: 'tool.output', streamId, ...output });
    if (reply) call.receive(reply);
  }
}
