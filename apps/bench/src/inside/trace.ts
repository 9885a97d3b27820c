import { subscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import { createRequire } from 'node:module';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { nowMs } from '../clock';
import type { TraceNote } from '../profile/trace-table';
import { traceDirectory } from './config';

/**
 * Loaded into a service before its own code: notes each message that the process sends or receives over HTTP, sockets,
 * NATS, Redis and Postgres, with the CPU time of the process so far. The first SIGUSR2 begins, the second writes the notes.
 */
let notes: TraceNote[] | undefined;

function note(what: string): void {
  if (!notes) return;
  const { user, system } = process.cpuUsage();
  notes.push({ atMs: nowMs(), cpuMs: (user + system) / 1_000, what });
}

process.on('SIGUSR2', () => {
  if (notes) {
    const service = /apps\/([^/]+)\//.exec(process.argv[1] ?? '')?.[1] ?? String(process.pid);
    writeFileSync(join(traceDirectory, `${service}.trace.json`), JSON.stringify(notes));
  }
  notes = notes ? undefined : [];
});

const withoutIds = (text: string): string => text.replaceAll(/[\w-]{22,}/g, '…');

function noteMessages(name: string, toNote: (message: never) => string): void {
  subscribe(name, (message) => note(withoutIds(toNote(message as never)))); // the shapes are those of Node's documentation
}
interface Requested {
  readonly request: IncomingMessage;
}
noteMessages('http.server.request.start', ({ request }: Requested) => `← ${request.method} ${request.url}`);
noteMessages('http.server.response.finish', ({ request }: Requested) => `→ answer to ${request.method} ${request.url}`);
noteMessages(
  'undici:client:sendHeaders',
  ({ request }: { request: { readonly path: string } }) => `→ POST ${request.path}`,
);
noteMessages('undici:request:headers', () => '← headers of the answer');

type Methods = Record<string, (...args: never[]) => unknown>;

/** Notes what `toNote` returns before each call of a method of a library. */
function noteCalls(
  prototype: unknown,
  name: string,
  toNote: (self: never, ...args: never[]) => string | undefined,
): void {
  const methods = prototype as Methods; // a library is watched from outside, where its types do not reach
  const original = methods[name];
  if (!original) throw new Error(`the library has no method ${name}`);
  methods[name] = function (this: unknown, ...args: never[]) {
    const what = toNote(this as never, ...args);
    if (what !== undefined) note(withoutIds(what));
    return original.apply(this, args);
  };
}

const load = createRequire(join(process.cwd(), 'package.json'));

interface Query {
  readonly text: string;
}
const shorten = ({ text }: Query): string => text.replaceAll(/\s+/g, ' ').trim().slice(0, 60);
const postgres = load('pg') as { Query: { prototype: unknown } };
noteCalls(postgres.Query.prototype, 'submit', (query: Query) => `→ sql ${shorten(query)}`);
noteCalls(postgres.Query.prototype, 'handleReadyForQuery', (query: Query) => `← sql ${shorten(query)}`);

interface Protocol {
  readonly subscriptions: { get(id: number): { readonly subject: string } | undefined };
}
const nats = load('nats/lib/nats-base-client/protocol.js') as { ProtocolHandler: { prototype: unknown } };
noteCalls(nats.ProtocolHandler.prototype, 'publish', (_: Protocol, subject: string) => `→ nats ${subject}`);
noteCalls(nats.ProtocolHandler.prototype, 'processMsg', (self: Protocol, message: { sid: number }) => {
  return `← nats ${self.subscriptions.get(message.sid)?.subject}`;
});

const redis = load('ioredis') as { Redis: { prototype: unknown } };
interface Command {
  readonly name: string;
  readonly promise: Promise<unknown>;
}
noteCalls(redis.Redis.prototype, 'sendCommand', (_: unknown, { name, promise }: Command) => {
  const answered = () => note(`← redis ${name}`);
  promise.then(answered, answered);
  return `→ redis ${name}`;
});

const sockets = load(load.resolve('socket.io', { paths: [load.resolve('@nestjs/platform-socket.io')] })) as {
  Socket: { prototype: unknown };
};
noteCalls(sockets.Socket.prototype, 'emit', (_: unknown, event: string) => `→ socket ${event}`);
noteCalls(sockets.Socket.prototype, 'dispatch', (_: unknown, [event]: [string]) => `← socket ${event}`);
