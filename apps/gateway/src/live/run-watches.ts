import { type Run, isTerminal, isTerminalFact, isWaiting, readIncarnation } from '@rondo/contract';
import { greatestSeq } from '@rondo/contract/api';
import type { Caller, ReadPosition, RunAddress, Runs, ThreadAddress } from '@rondo/persistence';
import { anySignal } from '@rondo/platform';
import type { Response } from 'express';
import type { Holding } from '../auth/memory-budget';
import type { LongRequests } from '../auth/open-connections';
import { whenClosed } from '../http/client-signal';
import { noteLasting } from '../http/lasting-answers';
import { ApiError, refuseUnauthorized } from '../problems/api-error';
import { type EventFormat, type Subscribe, serveEventStream, serveEvents } from './event-stream';
import type { NewRunLog, RunSubscriptions } from './run-subscriptions';
import { type SubscriberEvent, isNotice } from './stream-notices';
import type { ThreadEvent, ThreadSubscriptions } from './thread-subscriptions';

interface Watcher {
  readonly caller: Caller;
  readonly response: Response;
}

interface Wait extends Watcher {
  readonly timeoutS: number;
}

interface Stream extends Watcher {
  readonly after: number | undefined;
  /** The epoch of that fact. */
  readonly afterEpoch: number | undefined;
  /** The header, which wins over `after`. */
  readonly lastEventId: string | undefined;
}

/** What is done, once the client has the head of its answer, before the events are read. */
interface Preparation {
  readonly prepare?: ((signal: AbortSignal) => Promise<void>) | undefined;
}

interface Begun {
  /** Of a run that the request has just created, and of which it reads all. */
  readonly begun?: NewRunLog | undefined;
}

interface Reading extends Watcher, Preparation {
  /** The seq of the fact before the first one to read. */
  readonly after: number;
  readonly atMostMs?: number | undefined;
}

/** Requests that last as long as something of a run is awaited. They end with their client, and with its key. */
export class RunWatches {
  constructor(
    private readonly runs: Pick<Runs, 'get'>,
    private readonly follow: { readonly runs: RunSubscriptions; readonly threads: ThreadSubscriptions },
    private readonly longRequests: LongRequests,
  ) {}

  /**
   * Resolves to the run as soon as it is terminal or waits for input, or else after the timeout. Throws
   * `too_many_connections`, and `unauthorized` if the key was revoked in the meantime.
   */
  async wait(address: RunAddress, { caller, timeoutS, response }: Wait): Promise<Run> {
    const [over, revoked] = [beginLasting(response), new AbortController()];
    const disconnect = () => {
      revoked.abort();
      over.abort();
    };
    const end = this.longRequests.begin('waits', { caller, disconnect });
    const timer = setTimeout(() => over.abort(), timeoutS * 1000);
    try {
      const run = await this.awaitTurn(address, over.signal);
      if (revoked.signal.aborted) throw refuseUnauthorized('This API key was revoked.');
      return run;
    } finally {
      clearTimeout(timer);
      end();
    }
  }

  /** Answers with the events after those that the client has, or with 204 if it has them all and none will follow. */
  async stream(
    address: RunAddress,
    { caller, after = 0, afterEpoch = 0, lastEventId, response }: Stream,
  ): Promise<void> {
    const run = await this.runs.get(address);
    const seen = lastEventId === undefined ? undefined : readPosition(lastEventId);
    const hasAll = seen && seen.after >= run.last_seq && readIncarnation(seen.afterEpoch) >= readIncarnation(run.epoch);
    if (isTerminal(run.status) && hasAll) {
      response.status(204).end();
      return;
    }

    await this.streamAs(undefined, address, { ...(seen ?? { after, afterEpoch }), caller, response });
  }

  /** The same in another format, for a run that is known to exist, and `atMostMs` if that is given. */
  async streamAs(
    format: EventFormat | undefined,
    address: RunAddress,
    { caller, response, atMostMs, ...reading }: Omit<Reading, 'after'> & ReadPosition & Begun,
  ): Promise<void> {
    await this.whileConnected({ caller, response, atMostMs }, (options) =>
      serveEventStream(this.follow.runs, address, { ...options, ...reading, format }),
    );
  }

  /** The same for all runs of a thread, from the beginning of the run at that place. It lasts until the client leaves. */
  async streamThread(
    format: EventFormat<ThreadEvent>,
    thread: ThreadAddress,
    { caller, place, response }: Watcher & { readonly place: number },
  ): Promise<void> {
    await this.streamEvents<ThreadEvent>(format, { caller, response }, (sink, signal) =>
      this.follow.threads.subscribe(thread, { after: { place, seq: 0 }, sink, signal }),
    );
  }

  /** The same for events of anything else, which `subscribe` sends until the signal is aborted. */
  async streamEvents<Event>(format: EventFormat<Event>, watcher: Watcher, subscribe: Subscribe<Event>): Promise<void> {
    await this.whileConnected(watcher, (options) => serveEvents(subscribe, { ...options, format }));
  }

  private async whileConnected(
    { caller, response, atMostMs }: Watcher & Pick<Reading, 'atMostMs'>,
    serve: (options: { signal: AbortSignal; unread: Holding; response: Response }) => Promise<void>,
  ): Promise<void> {
    const over = beginLasting(response);
    const end = this.longRequests.begin('streams', { caller, disconnect: () => over.abort() });
    const unread = this.longRequests.holdUnread(caller);
    const timer = atMostMs === undefined ? undefined : setTimeout(() => over.abort(), atMostMs);
    await serve({ signal: over.signal, unread, response }).finally(() => {
      clearTimeout(timer);
      end();
    });
  }

  /**
   * Passes the events after `after` to `read`, until that returns true or `atMostMs` are over. Rejects with
   * `service_unavailable` if it could not be read that far, and with `too_many_connections`.
   */
  async readUntil(
    address: RunAddress,
    { caller, after, response, atMostMs, prepare }: Reading,
    read: (event: SubscriberEvent) => boolean,
  ): Promise<void> {
    const over = beginLasting(response);
    const end = this.longRequests.begin('waits', { caller, disconnect: () => over.abort() });
    const timer = atMostMs === undefined ? undefined : setTimeout(() => over.abort(), atMostMs);
    let isRead = atMostMs !== undefined;
    const sink = {
      send: (event: SubscriberEvent) => {
        if (!read(event)) return true;
        isRead = true;
        over.abort();
        return false;
      },
      waitUntilDrained: () => Promise.resolve(),
    };
    try {
      await prepare?.(over.signal);
      const { ending } = await this.follow.runs.subscribe(address, { after, sink, signal: over.signal });
      await ending;
    } finally {
      clearTimeout(timer);
      end();
    }
    if (!isRead) throw new ApiError('service_unavailable', 'Try again in a moment.');
  }

  /** Resolves when the run has begun or is over, so that all that its thread said before is stored, or when `signal` is aborted. */
  async awaitBegun(address: RunAddress, signal: AbortSignal): Promise<void> {
    const hasBegun = (event: SubscriberEvent) =>
      event.type === 'message.created' ||
      event.type === 'run.started' ||
      isNotice(event) ||
      (event.seq !== null && isTerminalFact(event));
    await this.awaitEvent(address, { after: 0, signal }, hasBegun);
  }

  private async awaitTurn(address: RunAddress, signal: AbortSignal): Promise<Run> {
    let run = await this.runs.get(address);
    while (!isTerminal(run.status) && !isWaiting(run.status) && !signal.aborted && !this.follow.runs.closed.aborted) {
      await this.awaitChange(address, { after: run.last_seq, signal });
      run = await this.runs.get(address);
    }
    return run;
  }

  /** Resolves when its status may have changed, or `signal` is aborted. */
  private awaitChange(
    address: RunAddress,
    place: { readonly after: number; readonly signal: AbortSignal },
  ): Promise<void> {
    return this.awaitEvent(
      address,
      place,
      (event) => event.type === 'run.waiting' || (event.seq !== null && isTerminalFact(event)),
    );
  }

  /** Resolves when there was such an event after that seq, or `signal` is aborted. */
  private async awaitEvent(
    address: RunAddress,
    { after, signal }: { readonly after: number; readonly signal: AbortSignal },
    isAwaited: (event: SubscriberEvent) => boolean,
  ): Promise<void> {
    const seen = new AbortController();
    const sink = {
      send: (event: SubscriberEvent) => {
        if (isAwaited(event)) seen.abort();
        return true;
      },
      waitUntilDrained: () => Promise.resolve(),
    };
    const either = anySignal([signal, seen.signal]);
    await this.follow.runs
      .subscribe(address, { after, sink, signal: either.signal })
      .then(({ ending }) => ending)
      .finally(() => either.release());
  }
}

/** What it returns is aborted when the client has left. */
function beginLasting(response: Response): AbortController {
  const over = new AbortController();
  noteLasting(response);
  whenClosed(response, () => over.abort());
  return over;
}

/** The seq of a fact, with its epoch behind a dot where the stream has written it so. */
function readPosition(lastEventId: string): { after: number; afterEpoch: number } {
  const [after = NaN, afterEpoch = 0] = /^\d{1,10}(\.\d{1,10})?$/.test(lastEventId)
    ? lastEventId.split('.').map(Number)
    : [];
  if (after <= greatestSeq && afterEpoch <= greatestSeq) return { after, afterEpoch };
  throw new ApiError('invalid_cursor', 'Last-Event-ID must be the `id` of an event.');
}
