import { setTimeout as delay } from 'node:timers/promises';
import type { TestBed } from '../test-bed/test-bed';
import { connect } from 'node:net';

type Server = 'postgres' | 'redis' | 'nats';
/** A range in milliseconds. */
type Range = readonly [number, number];

/** Kills the server and starts it after so many milliseconds, or what is done meanwhile. Resolves with the time at which it was up again. */
export async function serverOutage(
  testBed: TestBed,
  server: Server,
  meanwhile: number | (() => Promise<unknown>),
): Promise<number> {
  const victim = testBed.rondo.infrastructure.get(server);
  testBed.faults.note('kill -9', server);
  testBed.progress.faults += 1;
  await victim.kill();
  try {
    await (typeof meanwhile === 'number' ? delay(meanwhile) : meanwhile());
  } finally {
    await victim.start();
  }
  return Date.now();
}

/** Repeats outages with random pauses between them until the signal aborts. */
export async function serverOutages(
  testBed: TestBed,
  server: Server,
  { pauseMs, downMs, until }: { pauseMs: Range; downMs: Range; until: AbortSignal },
): Promise<void> {
  for (;;) {
    await delay(between(pauseMs), undefined, { signal: until }).catch(() => undefined);
    if (until.aborted) return;
    await serverOutage(testBed, server, between(downMs));
  }
}

const between = ([least, most]: Range): number => least + Math.random() * (most - least);

/** Sends AUTH and FLUSHALL over a plain socket, which needs no client library. */
export async function flushRedis(testBed: TestBed): Promise<number> {
  const { hostname, port, password } = new URL(testBed.rondo.infrastructure.get('redis').url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.write(`AUTH ${password}\r\nFLUSHALL\r\n`);
  let received = '';
  for await (const chunk of socket) {
    received += String(chunk);
    if (received.split('\r\n').length > 2) break;
  }
  if (received !== '+OK\r\n+OK\r\n') throw new Error(`Redis said ${received}`);
  testBed.faults.note('FLUSHALL', 'redis');
  testBed.progress.faults += 1;
  return Date.now();
}
