import { connect } from 'node:net';
import type { Stage } from '../stage/stage';

/** FLUSHALL, said by hand: it is one word of Redis's protocol, after the password. */
export async function flushRedis(stage: Stage): Promise<number> {
  const { hostname, port, password } = new URL(stage.rondo.infrastructure.get('redis').url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.write(`AUTH ${password}\r\nFLUSHALL\r\n`);
  let heard = '';
  for await (const chunk of socket) {
    heard += String(chunk);
    if (heard.split('\r\n').length > 2) break;
  }
  if (heard !== '+OK\r\n+OK\r\n') throw new Error(`Redis said ${heard}`);
  stage.faults.note('FLUSHALL', 'redis');
  stage.tally.faults += 1;
  return Date.now();
}
