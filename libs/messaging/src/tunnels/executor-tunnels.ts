import { randomBytes } from 'node:crypto';
import type { Duplex } from 'node:stream';
import type { Msg } from 'nats';
import { z } from 'zod';
import type { NatsLink } from '../connection/nats-link';
import { readReceived } from '../connection/received';
import { Tunnel, TunnelError } from './tunnel';

const tunnelId = z.string().regex(/^[0-9a-f]{32}$/);
/** Tunnels of workers have a share of their own. What does not say who opens it counts as a gateway's. */
export const tunnelRequest = z.object({
  tunnel_id: tunnelId,
  request: z.unknown(),
  opened_by: z.literal('worker').optional(),
});
export const tunnelAnswer = z.discriminatedUnion('ok', [
  z.object({ ok: z.literal(true), head: z.unknown() }),
  z.object({ ok: z.literal(false), code: z.string(), message: z.string() }),
]);

/** A sandbox that sleeps is woken for it first; NATS lets executors answer within 10 s. */
const openWithinMs = 9_000;

export interface OpenedTunnel {
  /** The executor's answer, before any byte. */
  readonly head: unknown;
  readonly tunnel: Tunnel;
}

interface TunnelOpening {
  readonly request: object;
  readonly signal?: AbortSignal | undefined;
  readonly isWorker?: boolean | undefined;
}

/**
 * Opens a tunnel to an executor. Rejects with TunnelError: `executor_away` when none answers, or with the code of its
 * refusal. What travels in it is agreed in the request. It ends at once when the signal is aborted, also while the executor
 * has not answered yet, with `client_left`.
 */
export async function openTunnel(
  nats: NatsLink,
  executorId: string,
  { request, signal, isWorker = false }: TunnelOpening,
): Promise<OpenedTunnel> {
  if (signal?.aborted) throw clientLeft();
  const { names, connection } = nats;
  const id = randomBytes(16).toString('hex');
  const tunnel = new Tunnel({
    send: (frame) => publish(nats, names.sandboxUp(executorId, id), frame),
    close: () => subscription.unsubscribe(),
  });
  tunnel.on('error', ignore); // a reset after the last listener has left must not end the process
  const subscription = connection.subscribe(names.sandboxDown(executorId, id), {
    callback: (error, message) => (error ? tunnel.destroy(error) : tunnel.receive(message.data)),
  });
  const answered = askToOpen(nats, executorId, { tunnel_id: id, request, ...(isWorker && { opened_by: 'worker' }) });
  try {
    return { tunnel, head: await (signal ? Promise.race([answered, endOnAbort(signal, tunnel)]) : answered) };
  } catch (error) {
    tunnel.destroy();
    throw error;
  }
}

function endOnAbort(signal: AbortSignal, tunnel: Tunnel): Promise<never> {
  return new Promise((_, reject) => {
    const end = () => {
      tunnel.destroy(clientLeft());
      reject(clientLeft());
    };
    signal.addEventListener('abort', end, { once: true });
  });
}

const clientLeft = () => new TunnelError('client_left', 'The client has left.');

async function askToOpen(nats: NatsLink, executorId: string, body: z.infer<typeof tunnelRequest>): Promise<unknown> {
  const away = new TunnelError('executor_away', 'The executor that has this sandbox does not answer.');
  if (!nats.connected) throw away;
  const options = { timeout: openWithinMs, noMux: true, reply: nats.newInbox() };
  const reply = await nats.connection
    .request(nats.names.sandboxOpen(executorId), JSON.stringify(body), options)
    .catch(() => undefined); // no executor listens there, or it did not answer in time
  const said = reply && readReceived(tunnelAnswer, reply, nats.log);
  if (!said) throw away;
  if (!said.ok) throw new TunnelError(said.code, said.message);
  return said.head;
}

/** What an executor makes of a request: its answer, and what happens in the tunnel once that was sent. */
export interface AcceptedTunnel {
  readonly head: object;
  /** Absent where the head is the whole answer. Ends the tunnel's writable side. A rejection resets the tunnel; with a TunnelError the other side learns the reason. */
  readonly serve?: (tunnel: Duplex) => Promise<void>;
}

interface TunnelServer {
  /** Rejects with TunnelError when the request is refused. */
  readonly accept: (request: unknown, opener: TunnelOpener) => Promise<AcceptedTunnel>;
}

export interface TunnelOpener {
  readonly isWorker: boolean;
  /** Takes what the tunnel may use until it is closed and all that was done for it has ended. */
  hold(release: () => void): void;
}

/** The executor's end. Returns what ends the listening and resets open tunnels. */
export function serveTunnels(nats: NatsLink, executorId: string, server: TunnelServer): () => void {
  const { names, connection, log } = nats;
  const open = new Map<string, Tunnel>();
  const onError = (error: Error) => log.error({ executorId, error }, 'sandbox subscription ended');
  const uplink = connection.subscribe(names.sandboxUp(executorId, '*'), {
    callback: (error, { subject, data }) => {
      if (error) onError(error);
      else open.get(subject.slice(subject.lastIndexOf('.') + 1))?.receive(data);
    },
  });
  const requests = connection.subscribe(names.sandboxOpen(executorId), {
    callback: (error, message) => (error ? onError(error) : void accept(message)),
  });

  async function accept(message: Msg): Promise<void> {
    const body = readReceived(tunnelRequest, message, log);
    if (!body || open.has(body.tunnel_id)) return;
    const tunnel = newTunnel(body.tunnel_id);
    let release: () => void = ignore;
    const opener = { isWorker: body.opened_by === 'worker', hold: (held: () => void) => void (release = held) };
    try {
      const accepted = await server.accept(body.request, opener);
      message.respond(JSON.stringify({ ok: true, head: accepted.head }));
      if (accepted.serve) await serve(accepted.serve, tunnel);
      else tunnel.resume().end();
    } catch (error) {
      message.respond(JSON.stringify({ ok: false, ...toRefusal(error) }));
      if (!(error instanceof TunnelError)) log.warn({ executorId, error }, 'sandbox request failed');
      tunnel.destroy();
    }
    if (tunnel.closed) release();
    else tunnel.once('close', release);
  }

  async function serve(work: NonNullable<AcceptedTunnel['serve']>, tunnel: Tunnel): Promise<void> {
    try {
      await work(tunnel);
      tunnel.resume(); // a tunnel is over once both directions have been read to their ends
    } catch (error) {
      tunnel.destroy(asError(error));
    }
  }

  /** It exists before the answer, so that the first frame of the other side finds it. */
  function newTunnel(id: string): Tunnel {
    const tunnel = new Tunnel({
      send: (frame) => publish(nats, names.sandboxDown(executorId, id), frame),
      close: () => open.delete(id),
    });
    tunnel.on('error', ignore);
    open.set(id, tunnel);
    return tunnel;
  }

  return () => {
    requests.unsubscribe();
    for (const tunnel of open.values()) tunnel.destroy(new TunnelError('executor_away', 'The executor shuts down.'));
    uplink.unsubscribe();
  };
}

/** While NATS is away nothing is kept for later: the other side sees the gap in the numbers and ends the tunnel. */
function publish({ connection }: NatsLink, subject: string, frame: Uint8Array): void {
  if (!connection.isClosed() && !connection.isDraining()) connection.publish(subject, frame);
}

const toRefusal = (error: unknown) =>
  error instanceof TunnelError
    ? { code: error.code, message: error.message }
    : { code: 'failed', message: 'The executor could not do it; its log says why.' };

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));
const ignore = () => undefined;
