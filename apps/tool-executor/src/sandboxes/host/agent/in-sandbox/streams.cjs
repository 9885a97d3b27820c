'use strict';
const net = require('node:net');
const { Failure } = require('./failure.cjs');

/** What a stream sends before the host has consumed it. The host kills a sandbox that sends more. */
const windowBytes = 256 * 1024;
const connectTimeoutMs = 3_000;
/** Servers bind to either of them, and `localhost` may be one or the other. */
const loopback = ['127.0.0.1', '::1'];

/** Connections of the host to servers in this sandbox, by the number that the host has assigned. */
class Streams {
  #open = new Map();

  constructor(channel) {
    this.channel = channel;
  }

  async open({ stream, port }) {
    this.#carry(stream, await connectToLoopback(port));
    return {};
  }

  write({ stream, data }) {
    const socket = this.#open.get(stream)?.socket;
    if (!socket?.writable) return {}; // It has closed meanwhile, which the host is being told.
    socket.write(Buffer.from(data, 'base64'), (error) => {
      if (!error) this.channel.send({ event: 'stream.drained', stream });
    });
    return {};
  }

  /** The host has passed so many bytes on to their reader. */
  consumed({ stream, bytes }) {
    const entry = this.#open.get(stream);
    if (!entry) return {};
    entry.unconsumed -= bytes;
    if (entry.unconsumed < windowBytes) entry.socket.resume();
    return {};
  }

  end({ stream }) {
    this.#open.get(stream)?.socket.end();
    return {};
  }

  close({ stream }) {
    this.#open.get(stream)?.socket.destroy();
    return {};
  }

  #carry(stream, socket) {
    const entry = { socket, unconsumed: 0 };
    const send = (event) => this.channel.send({ stream, ...event });
    let failure;
    this.#open.set(stream, entry);
    socket.on('data', (bytes) => {
      entry.unconsumed += bytes.length;
      if (entry.unconsumed >= windowBytes) socket.pause();
      send({ event: 'stream.data', data: bytes.toString('base64') });
    });
    socket.on('end', () => send({ event: 'stream.ended' }));
    socket.on('error', (error) => (failure = error.message));
    socket.on('close', () => {
      this.#open.delete(stream);
      send({ event: 'stream.closed', failure });
    });
  }
}

async function connectToLoopback(port) {
  let refusal;
  for (const host of loopback) {
    try {
      return await connected(net.connect({ host, port, allowHalfOpen: true }));
    } catch (error) {
      refusal ??= error;
    }
  }
  if (refusal.code === 'ECONNREFUSED') throw new Failure('not_listening', `Nothing listens on port ${port}.`);
  throw refusal;
}

function connected(socket) {
  return new Promise((resolve, reject) => {
    socket.setTimeout(connectTimeoutMs, () =>
      socket.destroy(new Failure('failed', 'The server accepts no connection.')),
    );
    socket.once('error', reject).once('connect', () => {
      socket.removeListener('error', reject);
      resolve(socket.setTimeout(0));
    });
  });
}

module.exports = { Streams };
