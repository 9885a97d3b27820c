import { pause, type Transport, cutOff, delayMs, refusal, saysLater } from './transport.ts';
import { ConnectionError, RondoError } from './errors.ts';
import { isTerminal } from './event-kinds.ts';
import type { StreamEvent } from './generated/api.ts';
import { streamRunEvents } from './generated/routes.ts';
import { toRequest } from './resource.ts';
import { dataOfEvents } from './server-sent-events.ts';
import { StreamPosition } from './stream-position.ts';

export interface StreamOptions {
  /** Facts up to this seq are not sent. Default: 0, from the beginning. */
  readonly after?: number | undefined;
  /** The epoch of that fact: with it the gateway tells whether the log still has the fact. */
  readonly afterEpoch?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called once when a connection is lost, before it is made again; not for further attempts that fail. */
  readonly onCut?: (error: unknown) => void;
}

/** The gateway sends a comment every 15 s. A connection that is silent for so long is dead. */
const silenceMs = 45_000;

/**
 * The events of a run until its end, in groups of what arrives together: each fact once and in order, each piece of text once.
 * Where a database was replaced by one that lacks facts, `stream.rewound` comes first, and what was received from its `from` on
 * does not hold. A connection that is cut is made again, as often as it takes, and continues after the last fact. Only where no
 * connection ever succeeded it gives up, after the client's `retries`. Leaving the loop closes the connection.
 */
export async function* streamGroups(
  transport: Transport,
  runId: string,
  { after = 0, afterEpoch, signal, onCut }: StreamOptions = {},
): AsyncGenerator<readonly StreamEvent[], void> {
  const position = new StreamPosition(after, afterEpoch);
  let failures = 0;
  let connected = false;
  let isOpen = false;
  for (;;) {
    try {
      for await (const events of connection(transport, { runId, lastEventId: position.lastEventId, signal })) {
        connected = isOpen = true;
        if (events.length === 0) continue;
        failures = 0;
        const end = events.findIndex(isTerminal);
        const untilEnd = end < 0 ? events : events.slice(0, end + 1);
        yield untilEnd.flatMap((event) => position.accept(event) ?? []);
        if (end >= 0) return;
      }
      return; // the gateway says that there is no more
    } catch (error) {
      if (!saysLater(error) || (!connected && failures >= transport.retries)) throw error;
      if (isOpen) onCut?.(error);
      isOpen = false;
      await pause(delayMs(error, failures++), signal);
    }
  }
}

interface Place {
  readonly runId: string;
  readonly lastEventId: string;
  readonly signal: AbortSignal | undefined;
}

/** One connection: none when it opens, then what arrives. It throws a ConnectionError when it ends before the run does; it ends when the run had ended before. */
async function* connection(
  transport: Transport,
  { runId, lastEventId, signal }: Place,
): AsyncGenerator<readonly StreamEvent[], void> {
  const request = toRequest(streamRunEvents, [runId]);
  const silence = new AbortController();
  const giveUp = () => silence.abort(new ConnectionError('The gateway was silent.'));
  const leave = () => silence.abort(signal?.reason);
  signal?.throwIfAborted();
  signal?.addEventListener('abort', leave, { once: true });
  let timer = setTimeout(giveUp, silenceMs);
  const heard = () => {
    clearTimeout(timer);
    timer = setTimeout(giveUp, silenceMs);
  };
  try {
    const headers = { Accept: 'text/event-stream', 'Last-Event-ID': lastEventId };
    const response = await transport.attempt({ ...request, headers, signal: silence.signal });
    if (response.status === 204 || !response.body) return;
    if (response.headers.get('Content-Type')?.includes('html')) throw await refusal(response);
    yield [];
    for await (const group of dataOfEvents(response.body, heard))
      yield group.map((data) => JSON.parse(data) as StreamEvent); // as the gateway's documents say
  } catch (error) {
    signal?.throwIfAborted();
    throw error instanceof RondoError || error instanceof ConnectionError ? error : cutOff(error);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', leave);
    silence.abort();
  }
  throw new ConnectionError('The stream ended before the run did.');
}
