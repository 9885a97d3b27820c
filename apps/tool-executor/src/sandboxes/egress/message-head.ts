import type { Socket } from 'node:net';

const headBytes = 64 * 1024;
const headPieces = 1_000;
const endOfHead = '\r\n\r\n';
const field = /^([!#$%&'*+.^_`|~\w-]+):[ \t]*([^\0\r\n]*)$/;
const requestLine = /^([!#$%&'*+.^_`|~\w-]+) (\S+) (HTTP\/1\.[01])$/;
const hopByHop = ['connection', 'proxy-connection', 'keep-alive', 'proxy-authorization', 'te', 'trailer', 'upgrade'];

/** The first line of a request or answer, and its header fields in order. */
export interface Head {
  readonly first: string;
  readonly fields: readonly (readonly [name: string, value: string])[];
}

/** The peer sends something that is not HTTP. */
export class InvalidHttp extends Error {}

/** Reads up to the empty line and leaves the rest in the socket. Undefined when the stream ends before. */
export async function readHead(socket: Socket): Promise<Head | undefined> {
  const pieces: Buffer[] = [];
  let length = 0;
  for (;;) {
    const piece = socket.read() as Buffer | null; // Sockets without an encoding give buffers.
    if (piece === null) {
      if (socket.readableEnded || socket.destroyed) return undefined;
      await readableOrEnded(socket);
      continue;
    }
    pieces.push(piece);
    length += piece.length;
    const whole = Buffer.concat(pieces);
    const end = whole.indexOf(endOfHead);
    if (end >= 0 && end <= headBytes) {
      socket.unshift(whole.subarray(end + endOfHead.length));
      return parse(whole.toString('latin1', 0, end));
    }
    if (length > headBytes || pieces.length > headPieces) throw new InvalidHttp('The header is too long.');
  }
}

/** Resolves when the socket is readable, has ended or is closed. */
function readableOrEnded(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const events = ['readable', 'end', 'close'];
    const changed = () => {
      for (const event of events) socket.off(event, changed);
      resolve();
    };
    for (const event of events) socket.on(event, changed);
  });
}

function parse(text: string): Head {
  const [first = '', ...lines] = text.split('\r\n');
  const fields = lines.map((line) => {
    const [, name, value] = field.exec(line) ?? [];
    if (name === undefined || value === undefined) throw new InvalidHttp('A header field is malformed.');
    return [name, value] as const;
  });
  return { first, fields };
}

export function toRequest({ first }: Head): { method: string; target: string; version: string } {
  const [, method, target, version] = requestLine.exec(first) ?? [];
  if (method === undefined || target === undefined || version === undefined)
    throw new InvalidHttp('This is not an HTTP request.');
  return { method, target, version };
}

export const isInterim = ({ first }: Head): boolean => /^HTTP\/1\.[01] 1\d\d\b/.test(first);

/** The head without its hop-by-hop fields, and with `Connection: close`. */
export function writeForwarded({ first, fields }: Head, host?: string): string {
  const named = fields.filter(([name]) => name.toLowerCase() === 'connection').flatMap(([, value]) => value.split(','));
  const dropped = new Set([...hopByHop, ...named.map((name) => name.trim().toLowerCase())]);
  const kept = fields.filter(([name]) => !dropped.has(name.toLowerCase()) && !(host && name.toLowerCase() === 'host'));
  const all = [...(host === undefined ? [] : [['Host', host] as const]), ...kept, ['Connection', 'close'] as const];
  return `${[first, ...all.map(([name, value]) => `${name}: ${value}`)].join('\r\n')}${endOfHead}`;
}

/** The head unchanged. */
export const writeHead = ({ first, fields }: Head): string =>
  `${[first, ...fields.map(([name, value]) => `${name}: ${value}`)].join('\r\n')}${endOfHead}`;
