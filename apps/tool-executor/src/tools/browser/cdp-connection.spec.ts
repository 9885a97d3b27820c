import { z } from 'zod';
import { BrowserLost, CommandRefused, PageUnresponsive } from './browser-errors';
import { TestDevTools } from './testing/test-devtools';

const version = { method: 'Browser.getVersion' };
const expected = { result: z.object({ product: z.string() }), timeoutMs: 500 };

describe('CdpConnection', () => {
  let devTools: TestDevTools;

  beforeAll(async () => {
    devTools = await TestDevTools.open();
  });
  afterAll(() => devTools.close());

  it('passes on answers, refusals and events', async () => {
    const connection = await devTools.connect();
    const events: unknown[] = [];
    connection.on('Page.loadEventFired', ({ sessionId, params }) => events.push([sessionId, params]));
    devTools.answer = (socket, id) => {
      socket.send(JSON.stringify({ method: 'Page.loadEventFired', sessionId: 'S', params: { timestamp: 1 } }));
      if (id === 1) socket.send(JSON.stringify({ id, result: { product: 'Chrome' } }));
      if (id === 2) socket.send(JSON.stringify({ id, error: { message: 'No.' } }));
    };

    await expect(connection.send(version, expected)).resolves.toEqual({ product: 'Chrome' });
    await expect(connection.send(version, expected)).rejects.toThrow(CommandRefused);
    await expect(connection.send(version, expected)).rejects.toThrow(PageUnresponsive);
    expect(events).toHaveLength(3);
    expect(events[0]).toEqual(['S', { timestamp: 1 }]);
    connection.close();
    await expect(connection.send(version, expected)).rejects.toThrow(BrowserLost);
  });
});
