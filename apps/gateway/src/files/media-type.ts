import { imageHeader } from '@rondo/contract';

const signatures: readonly (readonly [type: string, hex: string, at?: number])[] = [
  ['application/pdf', '255044462d'],
  ['application/gzip', '1f8b'],
  ['application/zip', '504b0304'],
  ['application/zip', '504b0506'],
  ['application/x-7z-compressed', '377abcaf271c'],
  ['application/x-bzip2', '425a68'],
  ['application/zstd', '28b52ffd'],
  ['application/x-sqlite3', '53514c69746520666f726d6174203300'],
  ['application/x-tar', '7573746172', 257],
  ['audio/mpeg', '494433'],
  ['audio/wav', '57415645', 8],
  ['video/mp4', '66747970', 4],
];
const insideZip: readonly (readonly [type: string, name: string])[] = [
  ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'word/'],
  ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'xl/'],
  ['application/vnd.openxmlformats-officedocument.presentationml.presentation', 'ppt/'],
];
const headBytes = 64 * 1024;

/**
 * What a file is, from its first bytes: neither the name nor the type that a client declares says anything about it. HTML,
 * SVG and other text that a browser would run is `text/plain`.
 */
export function toMediaType(content: Buffer): string {
  const head = content.subarray(0, headBytes);
  const image = imageHeader(head.subarray(0, head.length - (head.length % 3)).toString('base64'));
  if (image) return image.media_type;
  const found = signatures.find(([, hex, at = 0]) => head.subarray(at, at + hex.length / 2).toString('hex') === hex);
  if (!found) return isText(head) ? 'text/plain' : 'application/octet-stream';
  const [type] = found;
  if (type !== 'application/zip') return type;
  return insideZip.find(([, name]) => head.includes(name))?.[0] ?? type;
}

function isText(head: Buffer): boolean {
  if (head.includes(0)) return false;
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true }); // the last character may be cut
    return true;
  } catch {
    return false;
  }
}
