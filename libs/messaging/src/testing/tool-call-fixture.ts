import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Delta,
  type EffectClass,
  type RunId,
  type ToolCall,
  accountId,
  callId,
  runId,
  threadId,
} from '@rondo/contract';
import { builtInTools } from '@rondo/domain';
import { plannedCall } from '@rondo/domain/testing';
import type { NatsLink } from '../connection/nats-link';
import { CallRecords } from '../tool-calls/call-records';
import type { ToolTiming } from '../tool-calls/client/open-call';
import { NatsTools, type SandboxMoves } from '../tool-calls/client/nats-tools';
import type { QueueShares } from '../tool-calls/client/queue-shares';
import type { CallContext } from '../tool-calls/executor/call-attempts';
import { ToolCallConsumer } from '../tool-calls/executor/tool-call-consumer';
import type { DispatchedCall, ToolReply } from '../tool-calls/wire-format';
import { PendingCancellations } from '../tool-calls/client/call-cancellation';
import { TestNats, createToolStreams } from './test-nats';

export type Handle = (call: DispatchedCall, context: CallContext) => Promise<ToolReply>;

export const never: AbortSignal = new AbortController().signal;

export const answered = (output: string): ToolReply => ({
  how: 'answered',
  result: { success: true, output },
  duration_ms: 1,
});

let lastNumber = 0;
const nextNumber = () => (lastNumber += 1).toString().padStart(6, '0');

export const aCall = (effect_class: EffectClass = 'unsafe', run = runId.parse(`run_${nextNumber()}`)): ToolCall =>
  plannedCall({ id: callId.parse(`call_${nextNumber()}`), run_id: run, effect_class, attempt: 1 });

interface Worker {
  readonly link?: NatsLink;
  readonly executorId?: string;
  readonly account?: string;
  readonly thread?: string;
  readonly timing?: Partial<ToolTiming>;
  readonly toolTimeoutMs?: number;
  readonly onOutput?: (delta: Delta) => void;
  readonly placement?: () => Promise<string>;
  readonly moves?: SandboxMoves;
  readonly shares?: QueueShares;
}

interface Executor {
  readonly link?: NatsLink;
  readonly executorId?: string;
  readonly concurrency?: number;
  readonly perAccount?: number;
  readonly perThread?: number;
}

/** Short intervals, to keep specs fast. */
const shortTiming: ToolTiming = { checkEveryMs: 200, patienceMs: 60_000, stopTimeoutMs: 3_000 };

/** Workers and executors on one namespace of a NATS server. */
export class ToolCallFixture {
  readonly nats: TestNats;
  private readonly cleanups: (() => Promise<void>)[] = [];

  constructor(natsUrl?: string) {
    this.nats = new TestNats(natsUrl);
  }

  /** The tools of one activation, as a worker creates them. */
  async worker(run: RunId, worker: Worker = {}): Promise<NatsTools> {
    const {
      link,
      executorId = 'exec',
      account = 'acc_1',
      thread = 'thr_1',
      timing,
      toolTimeoutMs,
      ...options
    } = worker;
    const nats = link ?? (await this.nats.link());
    const tools = new NatsTools({
      nats,
      streams: createToolStreams(nats),
      pendingCancellations: createPendingCancellations(nats),
      runId: run,
      accountId: accountId.parse(account),
      threadId: threadId.parse(thread),
      epoch: 1,
      placement: () => Promise.resolve(executorId),
      onOutput: () => undefined,
      toolSet: builtInTools,
      timing: { ...shortTiming, ...timing },
      ...(toolTimeoutMs !== undefined && { toTimeoutMs: () => toolTimeoutMs }),
      ...options,
    });
    this.cleanups.push(async () => tools.close(new Error('the spec is over')));
    return tools;
  }

  /** Sends a call that can be stopped. */
  async stoppable(call: ToolCall, worker: Worker = {}) {
    const tools = await this.worker(call.run_id, worker);
    const stop = new AbortController();
    return { answer: tools.execute(call, stop.signal), stop };
  }

  async executor(handle: Handle, executor: Executor = {}) {
    const { link, executorId = 'exec', concurrency = 8, perAccount = concurrency, perThread = concurrency } = executor;
    const nats = link ?? (await this.nats.link());
    const slots = { total: concurrency, perAccount, perThread };
    const consumer = new ToolCallConsumer({
      nats,
      streams: createToolStreams(nats),
      executorId,
      slots,
      handle,
      ackWaitMs: 1_000,
    });
    consumer.start();
    this.cleanups.push(() => consumer.close({ graceMs: 0, reason: new Error('the spec is over') }));
    /** Simulates a power loss: the executor disconnects without a message. */
    const die = async () => {
      await nats.connection.close();
      await consumer.close({ graceMs: 0, reason: new Error('died') });
    };
    return { consumer, nats, die };
  }

  /** The records of an executor's calls, over a new connection. */
  async records(executorId = 'exec'): Promise<CallRecords> {
    const link = await this.nats.link();
    return new CallRecords(link, createToolStreams(link), executorId);
  }

  /** Resolves when the call is in the queue. */
  async queued({ run_id, id, attempt }: ToolCall, executorId = 'exec'): Promise<void> {
    const records = await this.records(executorId);
    while (!(await records.isQueued({ runId: run_id, callId: id, attempt }))) await sleep(10);
  }

  async close(): Promise<void> {
    await Promise.all(this.cleanups.map((cleanUp) => cleanUp()));
    await this.nats.close();
  }
}

const pendingCancellations = new WeakMap<NatsLink, PendingCancellations>();

/** Each process has one for its connection. */
function createPendingCancellations(link: NatsLink): PendingCancellations {
  const known = pendingCancellations.get(link) ?? new PendingCancellations(link);
  pendingCancellations.set(link, known);
  return known;
}

/** A handler that runs until it is aborted; `begun` resolves when it has started. */
export function endlessWork() {
  let begin = (): void => undefined;
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const calls: DispatchedCall[] = [];
  const handle: Handle = (call, { signal }) => {
    const stopped: ToolReply = { how: 'stopped', verified_dead_at: '2030-01-01T00:00:00.000Z' };
    if (signal.aborted) return Promise.resolve(stopped);
    calls.push(call);
    begin();
    return new Promise((resolve) => {
      signal.addEventListener('abort', () => resolve(stopped), { once: true });
    });
  };
  return { handle, begun, calls };
}
