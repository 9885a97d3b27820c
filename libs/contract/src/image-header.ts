import { z } from 'zod';

/** The image types that every provider accepts. */
export const imageMediaType = z.enum(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);
export type ImageMediaType = z.infer<typeof imageMediaType>;

export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

interface ImageHeader extends ImageSize {
  readonly media_type: ImageMediaType;
}

type Bytes = (at: number) => number;

const formats: readonly [ImageMediaType, (byte: Bytes) => ImageSize | undefined][] = [
  ['image/png', png],
  ['image/gif', gif],
  ['image/webp', webp],
  ['image/jpeg', jpeg],
];

/** The largest side of a JPEG or GIF. A PNG could declare more, which only an attacker would do. */
const longestSide = 65_535;

/**
 * Media type and size from the first bytes of a PNG, JPEG, GIF or WebP; undefined for any other type and for an incomplete
 * header. Reads only the bytes that it needs, so a large image costs no more than a small one.
 */
export function imageHeader(base64: string): ImageHeader | undefined {
  const byte: Bytes = (at) => toByte(base64, at);
  for (const [media_type, read] of formats) {
    const size = read(byte);
    if (size) return isPossible(size.width) && isPossible(size.height) ? { media_type, ...size } : undefined;
  }
  return undefined;
}

const isPossible = (side: number): boolean => side > 0 && side <= longestSide;

function png(byte: Bytes): ImageSize | undefined {
  if (!startsWith(byte, 0, '\x89PNG\r\n\x1a\n') || !startsWith(byte, 12, 'IHDR')) return undefined;
  return { width: big(byte, 16, 4), height: big(byte, 20, 4) };
}

function gif(byte: Bytes): ImageSize | undefined {
  if (!startsWith(byte, 0, 'GIF87a') && !startsWith(byte, 0, 'GIF89a')) return undefined;
  return { width: little(byte, 6, 2), height: little(byte, 8, 2) };
}

/** The three kinds of WebP, by their first chunk: extended, lossless, lossy. */
function webp(byte: Bytes): ImageSize | undefined {
  if (!startsWith(byte, 0, 'RIFF') || !startsWith(byte, 8, 'WEBP')) return undefined;
  if (startsWith(byte, 12, 'VP8X')) return { width: little(byte, 24, 3) + 1, height: little(byte, 27, 3) + 1 };
  if (startsWith(byte, 12, 'VP8L') && byte(20) === 0x2f) {
    const packed = little(byte, 21, 4);
    if (Number.isNaN(packed)) return undefined;
    return { width: (packed & 0x3fff) + 1, height: ((packed >>> 14) & 0x3fff) + 1 };
  }
  if (!startsWith(byte, 12, 'VP8 ') || !startsWith(byte, 23, '\x9d\x01\x2a')) return undefined;
  return { width: little(byte, 26, 2) & 0x3fff, height: little(byte, 28, 2) & 0x3fff };
}

/** Skips segments up to the first frame; a JPEG may have large ones before it, such as a thumbnail. */
function jpeg(byte: Bytes): ImageSize | undefined {
  if (!startsWith(byte, 0, '\xff\xd8\xff')) return undefined;
  for (let at = 2; byte(at) === 0xff;) {
    const marker = byte(at + 1);
    if (marker === 0xff) at += 1;
    else if (beginsFrame(marker)) return { width: big(byte, at + 7, 2), height: big(byte, at + 5, 2) };
    else at += 2 + Math.max(2, big(byte, at + 2, 2));
  }
  return undefined;
}

/** 0xC4, 0xC8 and 0xCC are in the range of frame markers but are none. */
const beginsFrame = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;

const startsWith = (byte: Bytes, at: number, letters: string): boolean =>
  Array.from(letters).every((letter, index) => byte(at + index) === letter.charCodeAt(0));

/** A number of this many bytes; NaN, which is no valid size, if the text ends before. */
function big(byte: Bytes, at: number, length: number): number {
  let value = 0;
  for (let index = 0; index < length; index++) value = value * 256 + byte(at + index);
  return value;
}

function little(byte: Bytes, at: number, length: number): number {
  let value = 0;
  for (let index = length - 1; index >= 0; index--) value = value * 256 + byte(at + index);
  return value;
}

const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const valueOf = new Map(Array.from(digits, (digit, value) => [digit, value]));

/** Decodes one byte; base64 has four digits for three bytes. NaN after the end. */
function toByte(base64: string, at: number): number {
  const digit = ((at - (at % 3)) / 3) * 4 + (at % 3);
  const high = valueOf.get(base64.charAt(digit));
  const low = valueOf.get(base64.charAt(digit + 1));
  if (high === undefined || low === undefined) return Number.NaN;
  const shift = 2 * (at % 3);
  return ((high << (shift + 2)) | (low >> (4 - shift))) & 0xff;
}
