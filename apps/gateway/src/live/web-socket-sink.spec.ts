import { WebSocketSink } from './web-socket-sink';

/** A WebSocket whose client reads when it is told to. */
class FakeSocket {
  readonly OPEN = 1;
  readyState: 0 | 1 | 2 | 3 = 1;
  bufferedAmount = 0;
  private flushed: (() => void)[] = [];

  send(text: string, done?: unknown): void {
    this.bufferedAmount += text.length;
    if (typeof done === 'function') this.flushed.push(() => Reflect.apply(done, undefined, []));
  }

  read(): void {
    this.bufferedAmount = 0;
    for (const done of this.flushed.splice(0)) done();
  }
}

const kilobytes = (count: number): string => 'x'.repeat(count * 1024);

describe('WebSocketSink', () => {
  it('is full with 256 KB that were not read, and drained when all is read', async () => {
    const socket = new FakeSocket();
    const held = { bytes: 0, take: (bytes: number) => (held.bytes += bytes) > 0, keep: () => void (held.bytes = 0) };
    const sink = new WebSocketSink(socket, held);
    sink.send(kilobytes(255));
    expect([sink.isFull(), await sink.drainsWithin(0)]).toEqual([false, true]);
    sink.send(kilobytes(1));
    expect(sink.isFull()).toBe(true);
    expect(held.bytes).toBe(256 * 1024);
    const drained = sink.waitUntilDrained();
    socket.read();
    await drained;
    expect([sink.isFull(), held.bytes]).toEqual([false, 0]);
  });

  it('is full where the account may hold no more, and says that it stays so', async () => {
    const sink = new WebSocketSink(new FakeSocket(), { take: () => false, keep: () => undefined });
    sink.send('x');
    expect(sink.isFull()).toBe(true);
    expect(await sink.drainsWithin(1)).toBe(false);
  });

  it('holds nothing for a client that has left', async () => {
    const socket = new FakeSocket();
    const sink = new WebSocketSink(socket, { take: () => true, keep: () => undefined });
    sink.send(kilobytes(300));
    const drained = sink.waitUntilDrained();
    socket.readyState = 3;
    sink.close();
    await drained;
    sink.send(kilobytes(300));
    expect(socket.bufferedAmount).toBe(300 * 1024);
  });
});
