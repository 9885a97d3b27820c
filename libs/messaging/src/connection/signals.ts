import { type RunId, deltaType, runId, threadId } from '@rondo/contract';
import type { PendingStop } from '@rondo/domain';
import type { NatsConnection } from 'nats';
import { z } from 'zod';
import { natsLogin } from './nats-login';
import { type MessageHeaders, isFromStore } from './received';

export const executorId = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'letters, digits, dash and underscore only');

const runStop = z.object({
  run_id: runId,
  requested_at: z.iso.datetime(),
  reason: z.string().nullable(),
  error: z.string().exactOptional(),
});
export type RunStop = z.infer<typeof runStop>;

/** Text that was published in deltas and that no fact has superseded yet. `data` is the rest of what the deltas carry. */
const openStream = z.object({
  type: deltaType,
  stream_id: z.string(),
  iteration: z.number().int().nonnegative(),
  epoch: z.number().int().nonnegative(),
  after_seq: z.number().int().nonnegative(),
  text: z.string(),
  data: z.record(z.string(), z.unknown()),
});
const runLive = z.object({
  streams: z.array(openStream),
  /** Why the worker can send no tool calls. Absent: it can. */
  calls_problem: z.string().max(2_000).exactOptional(),
  /** The MCP servers of the run that have not answered yet, with the time at which they were asked. */
  starting_servers: z.array(z.object({ name: z.string(), since: z.iso.datetime() })).exactOptional(),
});
export type RunLive = z.infer<typeof runLive>;

/**
 * Signals and requests between services: patterns for Nest's NATS transport, and their payloads. Core NATS delivers at most
 * once, so what a signal says is also in Postgres, where a poll finds it: a lost signal costs seconds and no more.
 */
export const signals = {
  /** Signal to every worker: stop this run. */
  stop: { pattern: 'runs.stop', payload: runStop },
  /** Signal to every worker: a client has told this run something. If it is lost, the run reads it when it would end. */
  steer: { pattern: 'runs.steer', payload: z.object({ run_id: runId }) },
  /** Request to the worker that holds a run for what only that process knows: the text so far of its open streams. */
  live: {
    toPattern: (workerId: string) => `runs.live.${workerId}`,
    payload: z.object({ run_id: runId }),
    answer: runLive,
  },
  /** Request to one executor, which NATS picks: can it host this thread's sandbox? */
  place: {
    pattern: 'executor.place',
    queue: 'executors',
    payload: z.object({ thread_id: threadId }),
    answer: z.object({ executor_id: executorId }),
  },
} as const;

/** The run that a signal says was told something; undefined as for a stop. */
export const findSteeredRun = (payload: unknown, headers: MessageHeaders): RunId | undefined =>
  isFromStore(headers) ? undefined : signals.steer.payload.parse(payload).run_id;

/** The stop request in a signal; undefined for a message that JetStream was made to send on its subject. */
export function findStopSignal(payload: unknown, headers: MessageHeaders): PendingStop | undefined {
  if (isFromStore(headers)) return undefined;
  const { run_id: runId, requested_at: requestedAt, reason, error } = signals.stop.payload.parse(payload);
  return { runId, stop: { requestedAt, reason, error } };
}

/**
 * Reconnects within a second of a server's return, without limit, even if it refuses the password for a while. A connection
 * on which nothing arrives is given up after 10 s.
 */
export const reconnectForever = {
  maxReconnectAttempts: -1,
  reconnectTimeWait: 250,
  reconnectJitter: 250,
  ignoreAuthErrorAbort: true,
  waitOnFirstConnect: true,
  pingInterval: 5_000,
  maxPingOut: 2,
} as const;

interface TransportOptions {
  readonly url: string;
  readonly name: string;
  /** Members of a queue group share messages; without one, each process gets them all. */
  readonly queue?: string;
}

/** The `options` of Nest's `Transport.NATS`, for servers and clients. */
export const natsTransportOptions = ({ url, name, queue }: TransportOptions) => ({
  ...natsLogin(url),
  name,
  ...(queue !== undefined && { queue }),
  ...reconnectForever,
});

/** The part of a Nest application that gives access to its connections. */
interface Subscriber {
  getMicroservices(): { unwrap(): unknown }[];
}

/**
 * Resolves when NATS has processed the subscriptions of this process, which `startAllMicroservices` does not wait for. A
 * process that reports itself ready must already receive signals.
 */
export async function untilSubscribed(app: Subscriber): Promise<void> {
  const connections = app.getMicroservices().map((service) => service.unwrap() as NatsConnection); // every microservice uses Transport.NATS
  await Promise.all(connections.map((connection) => connection.flush()));
}
