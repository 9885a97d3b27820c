import { connect } from 'node:net';
import type { TestBed } from '../test-bed/test-bed';

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
