import type { IncomingMessage } from 'node:http';
import { Refusal } from './refusal';

const maxBytes = 32 * 1024 * 1024;

/** Reads to the end even if the body is too long, because a client that is still sending does not read the answer. */
export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= maxBytes) chunks.push(chunk);
  }
  if (bytes > maxBytes) throw new Refusal('too_large', `The request exceeds ${maxBytes} bytes.`);
  return Buffer.concat(chunks);
}
