import type { Readable } from 'node:stream';
import { json } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { writtenFile } from './sandbox-protocol';
import { type Tunnel, TunnelError } from './tunnel';

/**
 * Sends a source through the tunnel of a `write`. Resolves to the number of bytes once the file exists. Rejects with the
 * executor's reason as TunnelError, otherwise with the error of the source; the file is then as it was.
 */
export async function writeThrough(tunnel: Tunnel, source: Readable): Promise<number> {
  const reply = json(tunnel.iterator({ destroyOnReturn: false }));
  const [sent, written] = await Promise.allSettled([pipeline(source, tunnel, { end: true }), reply]);
  if (written.status === 'fulfilled') return writtenFile.parse(written.value).size;
  const isRefused = written.reason instanceof TunnelError;
  throw sent.status === 'rejected' && !isRefused ? sent.reason : written.reason;
}
