import { RondoClient } from '@rondo/test-deployment';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Server } from 'socket.io';
import type { CountingEffectServer } from '../effects/counting-effect-server';
import { RunObserver } from './run-observer';

describe('RunObserver', () => {
  it('can be closed before the gateway has answered', async () => {
    const http = createServer();
    const gateway = new Server(http);
    const asked = new Promise((resolve) => {
      gateway.of('/runs').on('connection', (socket) => socket.on('run.subscribe', resolve)); // without an answer
    });
    await once(http.listen(0, '127.0.0.1'), 'listening');
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => unhandled.push(reason);
    process.on('unhandledRejection', note);

    const client = new RondoClient(`http://127.0.0.1:${(http.address() as AddressInfo).port}`, 'key');
    const observer = new RunObserver(client, undefined as unknown as CountingEffectServer, 'tag');
    observer.follow('run_1');
    await asked;
    observer.close();
    await new Promise((resolve) => setImmediate(resolve));

    process.off('unhandledRejection', note);
    await gateway.close();
    expect(unhandled).toEqual([]);
  });
});
