import fc from 'fast-check';
import { type ImageMediaType, type ImageSize, imageHeader } from './image-header';

const u16be = (value: number) => [value >> 8, value & 0xff];
const u16le = (value: number) => [value & 0xff, value >> 8];
const letters = (text: string) => Array.from(text, (letter) => letter.charCodeAt(0));

type Writer = (size: ImageSize) => number[];

const png: Writer = ({ width, height }) => [
  ...letters('\x89PNG\r\n\x1a\n'),
  ...[0, 0, 0, 13],
  ...letters('IHDR'),
  ...[0, 0, ...u16be(width)],
  ...[0, 0, ...u16be(height)],
];

const gif: Writer = ({ width, height }) => [...letters('GIF89a'), ...u16le(width), ...u16le(height)];

const jpeg: Writer = ({ width, height }) => [
  ...[0xff, 0xd8, 0xff, 0xe0, 0, 16, ...letters('JFIF\0'), ...Array<number>(9).fill(0)],
  ...[0xff, 0xc4, 0, 6, 1, 2, 3, 4], // a table whose marker looks like that of a frame
  ...[0xff, 0xff, 0xc2, 0, 17, 8, ...u16be(height), ...u16be(width)],
];

const riff = (kind: string, ...data: number[]) => [
  ...letters('RIFF'),
  ...[0, 0, 0, 0],
  ...letters(`WEBP${kind}`),
  ...[0, 0, 0, 0],
  ...data,
];
const webpWithFeatures: Writer = ({ width, height }) =>
  riff('VP8X', 0, 0, 0, 0, ...u16le(width - 1), 0, ...u16le(height - 1), 0);
const webpLossy: Writer = ({ width, height }) =>
  riff('VP8 ', 0, 0, 0, 0x9d, 1, 0x2a, ...u16le(width), ...u16le(height));
const webpLossless: Writer = ({ width, height }) => {
  const packed = (width - 1) | ((height - 1) << 14);
  return riff('VP8L', 0x2f, ...u16le(packed & 0xffff), ...u16le(packed >>> 16));
};

const formats: [string, ImageMediaType, Writer][] = [
  ['PNG', 'image/png', png],
  ['GIF', 'image/gif', gif],
  ['JPEG', 'image/jpeg', jpeg],
  ['WebP with features', 'image/webp', webpWithFeatures],
  ['lossy WebP', 'image/webp', webpLossy],
  ['lossless WebP', 'image/webp', webpLossless],
];

const anySize = fc.record({ width: fc.integer({ min: 1, max: 16_383 }), height: fc.integer({ min: 1, max: 16_383 }) });
const encode = (bytes: readonly number[]) => Buffer.from(bytes).toString('base64');

it.each(formats)('reads the type and the size of a %s', (_, media_type, write) => {
  fc.assert(
    fc.property(anySize, fc.uint8Array(), (size, more) => {
      expect(imageHeader(encode([...write(size), ...more]))).toEqual({ media_type, ...size });
    }),
  );
});

it.each(formats)('returns undefined for a %s that is cut off', (_, _kind, write) => {
  const whole = write({ width: 258, height: 772 });
  for (let length = 0; length < whole.length; length++) {
    expect(imageHeader(encode(whole.slice(0, length)))).toBeUndefined();
  }
});

it('returns undefined for any other bytes', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 200 }), (text) => {
      expect(imageHeader(text)).toBeUndefined();
    }),
  );
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
      const size = imageHeader(encode([...letters('\xff\xd8\xff'), ...bytes]));
      expect(size === undefined || (size.width > 0 && size.height > 0)).toBe(true);
    }),
  );
});

it('rejects an impossible size', () => {
  for (const width of [0, 0x1_0000, 0xffff_ffff]) {
    const side = [24, 16, 8, 0].map((shift) => (width >>> shift) & 0xff);
    const header = [...png({ width: 1, height: 1 }).slice(0, 16), ...side, ...[0, 0, 0, 1]];
    expect(imageHeader(encode(header))).toBeUndefined();
  }
});
