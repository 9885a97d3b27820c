/** The parts of a multipart body by their names. Enough for what the SDK sends. */
export function listParts(body: Buffer, contentType: string): Map<string, Buffer> {
  const boundary = /boundary=([^;]+)/.exec(contentType)?.[1] ?? '';
  const parts = new Map<string, Buffer>();
  const delimiter = Buffer.from(`--${boundary}`);
  for (let from = body.indexOf(delimiter); from >= 0;) {
    const next = body.indexOf(delimiter, from + delimiter.length);
    const headEnd = body.indexOf('\r\n\r\n', from);
    if (next < 0 || headEnd < 0) break;
    const name = / name="([^"]+)"/.exec(body.toString('utf8', from, headEnd))?.[1];
    if (name !== undefined) parts.set(name, body.subarray(headEnd + 4, next - 2));
    from = next;
  }
  return parts;
}
