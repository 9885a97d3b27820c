import { createRequire } from 'node:module';
import fc from 'fast-check';
import { encodeFrame, FrameDecoder, FrameError } from './frame-codec';

const agentFrames = createRequire(__filename)('./in-sandbox/frames.cjs') as {
  encodeFrame(message: object): Buffer;
  createFrameReader(onMessage: (message: unknown) => void): (chunk: Buffer) => void;
};

const asSent = (value: object): object => JSON.parse(JSON.stringify(value)) as object; // -0 and the like do not survive JSON
const messages = fc.array(fc.dictionary(fc.string(), fc.jsonValue(), { noNullPrototype: true }).map(asSent));

/** The same bytes, cut at arbitrary places. */
function pieces(bytes: Buffer, cuts: number[]): Buffer[] {
  const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return at.slice(1).map((end, index) => bytes.subarray(at[index], end));
}

describe('FrameDecoder', () => {
  it('decodes what either side encoded, however the stream is split', () => {
    fc.assert(
      fc.property(messages, fc.array(fc.nat()), fc.boolean(), (sent, cuts, byAgent) => {
        const encode = byAgent ? agentFrames.encodeFrame : encodeFrame;
        const decoder = new FrameDecoder();
        const received = pieces(Buffer.concat(sent.map(encode)), cuts).flatMap((piece) => decoder.push(piece));
        expect(received).toEqual(sent);
      }),
    );
  });

  it('agrees with the reader of the agent', () => {
    fc.assert(
      fc.property(messages, fc.array(fc.nat()), (sent, cuts) => {
        const received: unknown[] = [];
        const read = agentFrames.createFrameReader((message) => received.push(message));
        pieces(Buffer.concat(sent.map(encodeFrame)), cuts).forEach(read);
        expect(received).toEqual(sent);
      }),
    );
  });

  it('throws only FrameError on invalid bytes', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 64 })), (chunks) => {
        const decoder = new FrameDecoder(1000);
        try {
          chunks.forEach((chunk) => decoder.push(Buffer.from(chunk)));
        } catch (error) {
          expect(error).toBeInstanceOf(FrameError);
        }
      }),
    );
  });

  it('refuses a frame over its limit before it has arrived', () => {
    const header = Buffer.alloc(4);
    header.writeUInt32BE(1001);

    expect(() => new FrameDecoder(1000).push(header)).toThrow(FrameError);
  });
});
