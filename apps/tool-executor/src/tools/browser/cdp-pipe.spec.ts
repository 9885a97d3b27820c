import { once } from 'node:events';
import { duplexPair } from 'node:stream';
import fc from 'fast-check';
import { CdpPipe } from './cdp-pipe';

const largest = 1_000;
const message = fc.string({ maxLength: 100 }).map((text) => text.replaceAll('\0', ''));

describe('CdpPipe', () => {
  it('passes on whole messages, wherever the stream is cut', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(message, { minLength: 1 }), fc.integer({ min: 1, max: 50 }), async (sent, size) => {
        const [near, far] = duplexPair();
        const pipe = new CdpPipe(near, largest);
        const received: string[] = [];
        pipe.on('message', (bytes) => received.push(bytes.toString()));

        const bytes = Buffer.from(sent.map((text) => `${text}\0`).join(''));
        for (let from = 0; from < bytes.length; from += size) far.write(bytes.subarray(from, from + size));
        far.end();
        await once(pipe, 'close');

        expect(received).toEqual(sent);
      }),
      { numRuns: 50 },
    );
  });

  it('ends each message that it sends', async () => {
    const [near, far] = duplexPair();
    new CdpPipe(near, largest).send('{}');

    expect(String(await once(far, 'data'))).toBe('{}\0');
  });

  it.each([
    ['in one piece', [Buffer.alloc(largest + 1, 'x')]],
    ['in many', Array.from({ length: 20 }, () => Buffer.alloc(100, 'x'))],
  ])('is closed by a message without end, %s', async (_, pieces) => {
    const [near, far] = duplexPair();
    const pipe = new CdpPipe(near, largest);
    far.on('error', () => undefined);

    for (const piece of pieces) far.write(piece);

    await once(pipe, 'close');
  });
});
