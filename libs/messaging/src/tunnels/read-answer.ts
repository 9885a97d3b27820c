/**
 * What an executor answers through a tunnel, as JSON of at most so many bytes; undefined for anything else. It has passed a
 * hostile sandbox, so nothing is known of its form.
 */
export async function readAnswer(tunnel: AsyncIterable<Uint8Array>, mostBytes: number): Promise<unknown> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of tunnel) {
    parts.push(part);
    if ((size += part.length) > mostBytes) return undefined;
  }
  try {
    return JSON.parse(Buffer.concat(parts).toString());
  } catch {
    return undefined;
  }
}
