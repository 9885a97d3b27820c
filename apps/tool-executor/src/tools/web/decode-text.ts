const declared = /;\s*charset="?([^";\s]+)/i;
/** HTML must declare its charset in its first kilobyte. */
const inHtml = /<meta[^>]+charset=["']?([\w-]+)/i;
const sniffedBytes = 1024;

/**
 * Text in the charset of its byte order mark, else the one that its server declares, else the one that its HTML declares,
 * else UTF-8, and what is not valid as that is read as Windows-1252. Undefined when the bytes are no text.
 */
export function decodeText(bytes: Buffer, contentType = ''): string | undefined {
  const charset = findMark(bytes) ?? declared.exec(contentType)?.[1] ?? inHtml.exec(toHead(bytes))?.[1];
  const isWide = /^utf-?16/i.test(charset ?? '');
  if (!isWide && bytes.includes(0)) return undefined;
  return (
    (charset === undefined ? undefined : decodeAs(charset, bytes)) ??
    decodeAs('utf-8', bytes) ??
    decodeAs('windows-1252', bytes)
  );
}

const toHead = (bytes: Buffer): string => bytes.subarray(0, sniffedBytes).toString('latin1');

function findMark(bytes: Buffer): string | undefined {
  const start = bytes.subarray(0, 3).toString('hex');
  if (start === 'efbbbf') return 'utf-8';
  if (start.startsWith('fffe')) return 'utf-16le';
  return start.startsWith('feff') ? 'utf-16be' : undefined;
}

function decodeAs(charset: string, bytes: Buffer): string | undefined {
  try {
    return new TextDecoder(charset, { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
