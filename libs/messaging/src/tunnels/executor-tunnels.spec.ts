import { EventEmitter, once } from 'node:events';
import { type Duplex, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import fc from 'fast-check';
import type { NatsLink } from '../connection/nats-link';
import { TestNats } from '../testing/test-nats';
import { type AcceptedTunnel, type TunnelOpener, openTunnel, serveTunnels } from './executor-tunnels';
import { Tunnel, TunnelError } from './tunnel';

let nats: TestNats;
let gateway: NatsLink;
let executor: NatsLink;
let executors = 0;
beforeAll(async () => {
  nats = new TestNats();
  gateway = await nats.link();
  executor = await nats.link();
});
afterAll(() => nats.close());

type Accept = Parameters<typeof serveTunnels>[2]['accept'];

/** An executor that treats every tunnel as `serve` says. Answers with its id. */
async function serving(
  serve: (tunnel: Duplex) => Promise<void>,
  { accept = acceptAll(serve), link = executor }: { accept?: Accept; link?: NatsLink } = {},
) {
  const executorId = `exe_${(executors += 1)}`;
  const stop = serveTunnels(link, executorId, { accept });
  await link.connection.flush();
  return { executorId, stop };
}

const acceptAll =
  (serve: NonNullable<AcceptedTunnel['serve']>) =>
  (request: unknown): Promise<AcceptedTunnel> =>
    Promise.resolve({ head: { asked: request }, serve });

const echo = (tunnel: Duplex) => pipeline(tunnel, tunnel);
const discard = async (tunnel: Duplex) => {
  tunnel.resume();
  await once(tunnel, 'end');
  tunnel.end();
};

describe('a tunnel to an executor', () => {
  it('carries any bytes in both directions, in order, and ends in each direction', async () => {
    const { executorId } = await serving(echo);
    const pieces = fc.array(fc.uint8Array({ maxLength: 200_000 }), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(pieces, async (written) => {
        const { tunnel, head } = await openTunnel(gateway, executorId, { request: { op: 'echo' } });
        expect(head).toEqual({ asked: { op: 'echo' } });

        const read = buffer(tunnel);
        for (const piece of written) tunnel.write(piece);
        tunnel.end();

        expect(Buffer.compare(await read, Buffer.concat(written))).toBe(0);
      }),
      { numRuns: 30 },
    );
  });

  it('carries many megabytes through a small window', async () => {
    const { executorId } = await serving(echo);
    const { tunnel } = await openTunnel(gateway, executorId, { request: {} });
    const sent = Buffer.alloc(20 * 1024 * 1024, 'rondo');

    const read = buffer(tunnel);
    tunnel.end(sent);

    expect(Buffer.compare(await read, sent)).toBe(0);
  });

  it('carries many megabytes to a reader that takes its time for each piece', async () => {
    const { executorId } = await serving(async (tunnel) => {
      let size = 0;
      for await (const piece of tunnel.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        size += piece.length;
        await new Promise(setImmediate);
      }
      tunnel.end(String(size));
    });
    const { tunnel } = await openTunnel(gateway, executorId, { request: {} });

    tunnel.end(Buffer.alloc(5_000_000));

    expect((await buffer(tunnel)).toString()).toBe('5000000');
  });

  it('makes a writer wait for a reader that does not read', async () => {
    let far: Duplex | undefined;
    const { executorId } = await serving(async (tunnel) => {
      far = tunnel;
      await once(tunnel, 'close');
    });
    const { tunnel } = await openTunnel(gateway, executorId, { request: {} });
    const isDone = new Promise((done) => tunnel.write(Buffer.alloc(4 * 1024 * 1024), done));

    await gateway.connection.flush();
    await executor.connection.flush();
    expect(far?.readableLength).toBe(1024 * 1024);
    expect(tunnel.writableLength).toBeGreaterThan(0);

    far?.resume();
    await isDone;
    tunnel.destroy();
  });

  it('tells the other side why it failed', async () => {
    const { executorId } = await serving(() => Promise.reject(new TunnelError('not_found', 'There is no such file.')));
    const { tunnel } = await openTunnel(gateway, executorId, { request: {} });
    await expect(buffer(tunnel)).rejects.toMatchObject({ code: 'not_found', message: 'There is no such file.' });
  });

  it('hides an unexpected error of the executor', async () => {
    const { executorId } = await serving(() => Promise.reject(new Error('password=hunter2')));
    const { tunnel } = await openTunnel(gateway, executorId, { request: {} });
    await expect(buffer(tunnel)).rejects.toMatchObject({ code: 'aborted' });
  });

  it('is refused with the reason of the executor', async () => {
    const refuse = () => Promise.reject(new TunnelError('port_closed', 'Nothing listens on port 3000.'));
    const { executorId } = await serving(discard, { accept: refuse });

    await expect(openTunnel(gateway, executorId, { request: {} })).rejects.toMatchObject({
      code: 'port_closed',
      message: 'Nothing listens on port 3000.',
    });
  });

  it('is refused where no executor listens', async () => {
    await expect(openTunnel(gateway, 'exe_none', { request: {} })).rejects.toMatchObject({ code: 'executor_away' });
  });

  it('is over for the executor once it has sent everything and the gateway has nothing to say', async () => {
    const opened: Duplex[] = [];
    const { executorId } = await serving((tunnel) => {
      opened.push(tunnel);
      return pipeline(Readable.from([Buffer.from('all')]), tunnel);
    });
    const { tunnel } = await openTunnel(gateway, executorId, { request: {} });
    tunnel.end();
    expect((await buffer(tunnel)).toString()).toBe('all');
    const [far] = opened;
    if (far && !far.closed) await once(far, 'close');
  });

  it('holds what the executor took for it until it is closed and the work for it has ended', async () => {
    const events = new EventEmitter();
    let finish: () => void = () => undefined;
    const work = new Promise<void>((resolve) => (finish = resolve));
    const accept = (_: unknown, opener: TunnelOpener): Promise<AcceptedTunnel> => {
      opener.hold(() => events.emit('released', opener.isWorker));
      return Promise.resolve({ head: {}, serve: () => work });
    };
    const { executorId } = await serving(discard, { accept });
    const released = once(events, 'released');
    const { tunnel } = await openTunnel(gateway, executorId, { request: {}, isWorker: true });
    tunnel.destroy();
    await openTunnel(gateway, executorId, { request: {} }).then((other) => other.tunnel.destroy());
    expect(await Promise.race([released, Promise.resolve('held')])).toBe('held');
    finish();
    expect(await released).toEqual([true]);
  });

  it('ends for the executor when its client leaves, before the answer too', async () => {
    const client = new AbortController();
    let asked: () => void = () => undefined;
    const isAsked = new Promise<void>((resolve) => (asked = resolve));
    const never = () => {
      asked();
      return new Promise<never>(() => undefined);
    };
    const { executorId } = await serving(discard, { accept: never });
    const opening = openTunnel(gateway, executorId, { request: {}, signal: client.signal });
    await isAsked;
    client.abort();
    await expect(opening).rejects.toMatchObject({ code: 'client_left' });
    const again = openTunnel(gateway, executorId, { request: {}, signal: client.signal });
    await expect(again).rejects.toMatchObject({ code: 'client_left' });
  });

  it('ends for the executor when the gateway destroys it', async () => {
    let opened: (tunnel: Duplex) => void = () => undefined;
    const far = new Promise<Duplex>((resolve) => (opened = resolve));
    const { executorId } = await serving((tunnel) => Promise.resolve(opened(tunnel)));
    const { tunnel } = await openTunnel(gateway, executorId, { request: {} });
    const end = buffer(await far);

    tunnel.destroy();

    await expect(end).rejects.toMatchObject({ code: 'aborted' });
  });

  it('is reset when the executor shuts down', async () => {
    const { executorId, stop } = await serving(discard);
    const { tunnel } = await openTunnel(gateway, executorId, { request: {} });
    const end = buffer(tunnel);
    stop();
    await expect(end).rejects.toMatchObject({ code: 'executor_away' });
  });

  it('fails when a frame was lost while the connection was away, and never delivers data with a hole', async () => {
    const { link, proxy } = await nats.severableLink();
    const { executorId } = await serving(
      async (tunnel) => {
        tunnel.resume();
        await once(tunnel, 'close');
      },
      { link },
    );
    const { tunnel } = await openTunnel(gateway, executorId, { request: {} });
    const end = buffer(tunnel);
    const isBack = new Promise<void>((back) => link.onReconnect(back));

    await proxy.cut();
    tunnel.write('lost');
    await gateway.connection.flush();
    await proxy.mend();
    await isBack;
    await link.connection.flush();
    tunnel.write('after the hole');

    await expect(end).rejects.toMatchObject({ code: 'tunnel_lost' });
  });

  it('fails when the other side has gone silent', async () => {
    const wire = { send: () => undefined, close: () => undefined };
    const tunnel = new Tunnel(wire, { aliveMs: 10, silentMs: 30 });
    await expect(buffer(tunnel)).rejects.toMatchObject({ code: 'tunnel_lost' });
  });

  it('fails on bytes that are no frame', async () => {
    const tunnel = new Tunnel({ send: () => undefined, close: () => undefined });
    const end = buffer(tunnel);
    tunnel.receive(Buffer.from('nonsense'));
    await expect(end).rejects.toMatchObject({ code: 'tunnel_lost' });
  });
});
