import { z } from 'zod';
import { BrowserLost } from './browser-errors';
import { TestDevTools } from './testing/test-devtools';

const version = { method: 'Browser.getVersion' };
const expected = { result: z.object({ product: z.string() }), timeoutMs: 500 };

describe('attack: DevTools of a sandbox', () => {
  let devTools: TestDevTools;

  beforeAll(async () => {
    devTools = await TestDevTools.open();
  });
  afterAll(() => devTools.close());

  it.each<[string, (id: number) => string]>([
    ['sends no JSON', () => 'hello'],
    ['sends a list', () => '[]'],
    ['answers in another form', (id) => JSON.stringify({ id, result: { product: 7 } })],
    ['sends an event in another form', () => JSON.stringify({ method: 'Page.frameNavigated', params: 7 })],
    ['sends an error event', () => JSON.stringify({ method: 'error', params: {} })],
    ['sends more than a screenshot can have', () => JSON.stringify('x'.repeat(9 * 1024 * 1024))],
  ])('a program in the place of the browser that %s', async (_, message) => {
    const connection = await devTools.connect();
    connection.on('Page.frameNavigated', ({ params }) => z.object({}).parse(params));
    devTools.answer = (socket, id) => socket.send(message(id));

    await expect(connection.send(version, { ...expected, timeoutMs: 5_000 })).rejects.toThrow(BrowserLost);
    await connection.closed;
  });
});
