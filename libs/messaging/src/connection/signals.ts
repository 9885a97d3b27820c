import { deltaType, runId, threadId } from '@rondo/contract';
import type { PendingStop } from '@rondo/domain';
import type { NatsConnection } from 'nats';
import { z } from 'zod';
import { type MessageHeaders, isFromStore } from './from-store';
import { natsLogin } from './nats-login';

export const executorId = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'letters, digits, dash and underscore only');

const runStop = z.object({ run_id: runId, requested_at: z.iso.datetime(), reason: z.string().nullable() });
export type RunStop = z.infer<typeof runStop>;

/** Text that deltas have shown and no fact has superseded yet. `data` is what else the stream's deltas carry. */
const openStream = z.object({
  type: deltaType,
  stream_id: z.string(),
  iteration: z.number().int().nonnegative(),
  epoch: z.number().int().nonnegative(),
  after_seq: z.number().int().nonnegative(),
  text: z.string(),
  data: z.record(z.string(), z.unknown()),
});
const runLive = z.object({ streams: z.array(openStream) });
export type RunLive = z.infer<typeof runLive>;

/**
 * Signals and requests between services: patterns for Nest's NATS transport, and what goes with them. What a signal
 * says is also in Postgres, where a poll finds it, so a lost one costs seconds and no more (R43).
 */
export const signals = {
  /** Event to every worker: end this run. */
  stop: { pattern: 'runs.stop', payload: runStop },
  /** Request to the worker that holds a run: the text so far of its open streams. */
  live: {
    patternOf: (workerId: string) => `runs.live.${workerId}`,
    payload: z.object({ run_id: runId }),
    answer: runLive,
  },
  /** Request to any one of the executors, whichever NATS picks: does it take this thread's sandbox in? */
  place: {
    pattern: 'executor.place',
    queue: 'executors',
    payload: z.object({ thread_id: threadId }),
    answer: z.object({ executor_id: executorId }),
  },
} as const;

/** The stop request in a signal; undefined for what JetStream was made to send under its subject. */
export function stopSignalOf(payload: unknown, headers: MessageHeaders): PendingStop | undefined {
  if (isFromStore(headers)) return undefined;
  const { run_id: runId, requested_at: requestedAt, reason } = signals.stop.payload.parse(payload);
  return { runId, stop: { requestedAt, reason } };
}

/**
 * Finds a server again within a second of its return, for ever, also where it refuses our password for a while; one that has
 * gone silent is given up after 10 s.
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

/** As much of a Nest application as it takes to reach its connections. */
interface Subscriber {
  getMicroservices(): { unwrap(): unknown }[];
}

/** What `startAllMicroservices` leaves out: who sees this process ready may count on NATS knowing its subscriptions. */
export async function untilSubscribed(app: Subscriber): Promise<void> {
  const connections = app.getMicroservices().map((service) => service.unwrap() as NatsConnection); // all are of Transport.NATS
  await Promise.all(connections.map((connection) => connection.flush()));
}
