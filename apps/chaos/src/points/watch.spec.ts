import { RondoClient } from '@rondo/test-deployment';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Server } from 'socket.io';
import type { EffectServer } from '../effects/effect-server';
import { Watch } from './watch';

describe('Watch', () => {
  it('may be closed before anybody has answered it', async () => {
    const http = createServer();
    const gateway = new Server(http);
    const asked = new Promise((resolve) => {
      gateway.of('/runs').on('connection', (socket) => socket.on('run.subscribe', resolve)); // and says nothing
    });
    await once(http.listen(0, '127.0.0.1'), 'listening');
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => unhandled.push(reason);
    process.on('unhandledRejection', note);

    const client = new RondoClient(`http://127.0.0.1:${(http.address() as AddressInfo).port}`, 'key');
    const watch = new Watch(client, undefined as unknown as EffectServer, 'tag');
    watch.follow('run_1');
    await asked;
    watch.close();
    await new Promise((resolve) => setImmediate(resolve));

    process.off('unhandledRejection', note);
    await gateway.close();
    expect(unhandled).toEqual([]);
  });
});
