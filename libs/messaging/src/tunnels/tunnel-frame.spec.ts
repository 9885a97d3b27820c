import fc from 'fast-check';
import { type FrameKind, decodeTunnelFrame, encodeTunnelFrame } from './tunnel';

const kind = fc.constantFrom<FrameKind>('data', 'credit', 'end', 'reset', 'alive');

describe('a frame of a tunnel', () => {
  it('is decoded as it was encoded', () => {
    const frame = fc.record({ kind, number: fc.nat(2 ** 32 - 1), payload: fc.uint8Array({ maxLength: 300 }) });
    fc.assert(
      fc.property(frame, (sent) => {
        const decoded = decodeTunnelFrame(encodeTunnelFrame(sent));
        expect(decoded && { ...decoded, payload: [...decoded.payload] }).toEqual({
          ...sent,
          payload: [...sent.payload],
        });
      }),
    );
  });

  it('is told from other bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        const isFrame = bytes.length >= 5 && (bytes[0] ?? 9) <= 4;
        expect(decodeTunnelFrame(bytes) !== undefined).toBe(isFrame);
      }),
    );
  });
});
