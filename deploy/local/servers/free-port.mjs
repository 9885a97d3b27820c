import { createServer } from 'node:net';

const lowest = 20_000;
const highest = 32_000; // below Linux's range for outgoing connections, one of which could take the port of a server that restarts
const given = new Set();

export const isFree = async (port, host) => (await whyNotFree(port, host)) === undefined;

/** The code of the error with which it cannot be listened on; undefined for a port that is free. */
export function whyNotFree(port, host = '127.0.0.1') {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', ({ code }) => resolve(code));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}

/**
 * The preferred port if it is free, otherwise another free one; within a process, never the same twice.
 *
 * @param {number} [preferred]
 * @param {string} [host]
 * @returns {Promise<number>}
 */
export async function choosePort(preferred, host) {
  for (let candidate = preferred ?? anyPort(); ; candidate = anyPort()) {
    if (given.has(candidate)) continue;
    given.add(candidate);
    if (await isFree(candidate, host)) return candidate;
  }
}

/** An address as it stands in a URL. */
export const inUrl = (host) => (host.includes(':') ? `[${host}]` : host);

function anyPort() {
  return lowest + Math.floor(Math.random() * (highest - lowest));
}
