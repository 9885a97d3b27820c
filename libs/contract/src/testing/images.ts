import type { ImageSize } from '../image-header';

const header = [...Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), 0, 0, 0, 13, ...Buffer.from('IHDR')];
const uint32 = (value: number): number[] => [24, 16, 8, 0].map((shift) => (value >>> shift) & 0xff);

/** An image as a client sends it: a PNG as far as its header says. `more` makes two of one size different. */
export function pngSource({ width = 2, height = 3 }: Partial<ImageSize> = {}, more: Iterable<number> = []) {
  const data = Buffer.from([...header, ...uint32(width), ...uint32(height), ...more]).toString('base64');
  return { type: 'base64' as const, media_type: 'image/png' as const, data };
}
