import { createWriteStream } from 'node:fs';
import { Readable, type Writable } from 'node:stream';
import type { Ending } from './exit-codes';
import type { Terminal } from './terminal';

/** Writes the body of a response to standard output, or into the file that has this name. */
export async function writeContent(response: Response, file: string | undefined, terminal: Terminal): Promise<Ending> {
  const target: Writable = file === undefined ? terminal.output : createWriteStream(file);
  const content = response.body ? Readable.fromWeb(response.body as never) : Readable.from([]); // Node's two names of one type
  for await (const chunk of content)
    if (!target.write(chunk)) await new Promise((resume) => target.once('drain', resume));
  if (file !== undefined) await new Promise((ended) => target.end(ended));
  return 'ok';
}
