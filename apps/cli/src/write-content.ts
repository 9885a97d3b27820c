import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Ending } from './exit-codes';
import type { Terminal } from './terminal';

/** Writes the body of a response to standard output, or into the file that has this name. */
export async function writeContent(response: Response, file: string | undefined, terminal: Terminal): Promise<Ending> {
  const content = response.body ? Readable.fromWeb(response.body as never) : Readable.from([]); // Node's two names of one type
  if (file !== undefined) await pipeline(content, createWriteStream(file));
  else if (terminal.isShown) for await (const text of content.setEncoding('utf8')) terminal.write(text as string);
  else await pipeline(content, terminal.output, { end: false });
  return 'ok';
}
