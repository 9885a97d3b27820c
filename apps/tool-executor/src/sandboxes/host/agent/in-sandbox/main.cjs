'use strict';
/**
 * The agent: the process inside a sandbox through which the host acts. It answers requests (`{id, call, …}` → `{id, ok, …}`)
 * and reports on commands (`{event, command, …}`) over the descriptors in its arguments: a socket, or an input and an output. It has no secrets. Commands
 * run as the same user, but the kernel lets none of them look into it, since it is started by a program that may not be read
 * (`guarded-start.ts`). The host validates everything it sends all the same.
 */
const net = require('node:net');
const { resolve } = require('node:path');
const { Commands } = require('./commands.cjs');
const { describeFailure, Failure } = require('./failure.cjs');
const { Files } = require('./files.cjs');
const { createFrameReader, encodeFrame } = require('./frames.cjs');
const { watchMemory } = require('./memory-watch.cjs');
const { signalEveryone } = require('./processes.cjs');
const { startRelay } = require('./relay.cjs');
const { Streams } = require('./streams.cjs');

const [inputFd, outputFd] = process.argv.slice(2, 4).map(Number);
const control = new net.Socket({ fd: inputFd, writable: outputFd === undefined });
const output = outputFd === undefined ? control : new net.Socket({ fd: outputFd, readable: false });
const channel = {
  send: (message) => output.write(encodeFrame(message)),
  onDrain: (listener) => output.on('drain', listener),
};
const calls = { configure };

/** The first request. It makes the other calls available. */
async function configure(settings) {
  const commands = new Commands(settings, channel);
  const files = new Files(settings);
  const streams = new Streams(channel);
  const located = (request) => ({ ...request, path: resolve(settings.workspace, request.path) });
  await files.sweep();
  if (settings.relay) await startRelay(settings.relay);
  if (settings.secretRelay) await startRelay(settings.secretRelay);
  if (settings.watchedMemoryBytes) watchMemory(settings.watchedMemoryBytes, commands);
  Object.assign(calls, {
    run: (request) => commands.run(request),
    input: (request) => commands.input(request),
    'stream.open': (request) => streams.open(request),
    'stream.write': (request) => streams.write(request),
    'stream.consumed': (request) => streams.consumed(request),
    'stream.end': (request) => streams.end(request),
    'stream.close': (request) => streams.close(request),
    freeze: () => signalEveryone('SIGSTOP'),
    thaw: () => signalEveryone('SIGCONT'),
    kill: (request) => commands.kill(request),
    'file.read': (request) => files.read(located(request)),
    'file.write': (request) => files.write(located(request)),
    'file.append': (request) => files.append(located(request)),
    'file.finish': (request) => files.finish(located(request)),
    'file.discard': (request) => files.discard(located(request)),
    'file.delete': (request) => files.delete(located(request)),
    'file.list': (request) => files.list(located(request)),
    'file.stat': (request) => files.stat(located(request)),
  });
  // In a sandbox the kernel kills all other processes when the agent exits. Without isolation the agent must do it.
  process.on('exit', () => commands.endAll('killed'));
  return {};
}

async function answer({ id, call, ...request }) {
  try {
    const handler = calls[call];
    if (!handler) throw new Failure('invalid_request', `There is no call ${call}.`);
    channel.send({ id, ok: true, result: await handler(request) });
  } catch (error) {
    channel.send({ id, ok: false, error: describeFailure(error) });
  }
}

control.on(
  'data',
  createFrameReader((message) => void answer(message)),
);
// Without a listener, this signal opens a debugger on a port that every command can reach.
process.on('SIGUSR1', () => undefined);
control.on('close', () => process.exit(0));
control.on('error', () => process.exit(0));
output.on('error', () => process.exit(0));
