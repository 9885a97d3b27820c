import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import { type HttpAnswer, OutboundRefusal, exchange, findRedirect, toTarget } from '@rondo/platform';
import type { EgressGate } from '../../sandboxes';
import { PageProblem } from './page-source';

const maxRedirects = 5;
export const mostPageBytes = 10 * 1024 * 1024;

const headers = {
  accept: 'text/html, application/xhtml+xml, text/*;q=0.9, application/pdf;q=0.8, */*;q=0.5',
  'accept-encoding': 'gzip, deflate, br',
  'user-agent': 'Mozilla/5.0 (compatible; rondo)',
};

export interface FetchedPage {
  /** After redirects. */
  readonly url: URL;
  readonly contentType: string;
  readonly body: Buffer;
}

/** Gets a page under the egress rules of the sandbox, which check each redirect anew. Rejects with PageProblem. */
export async function fetchPage(first: URL, egress: EgressGate, signal: AbortSignal): Promise<FetchedPage> {
  let url = first;
  for (let followed = 0; followed <= maxRedirects; followed += 1) {
    const answer = await ask(url, egress, signal);
    const next = findRedirect(url, answer);
    if (!next) return { url, contentType: answer.headers['content-type'] ?? '', body: await readBody(answer, signal) };
    url = next;
  }
  throw new PageProblem(`its server redirects more than ${maxRedirects} times`);
}

/** Rejects with PageProblem unless the rules of the sandbox admit the URL. */
export async function admit(url: URL, egress: EgressGate) {
  const { protocol, username, password } = url;
  if (protocol !== 'http:' && protocol !== 'https:') throw new PageProblem('only http and https URLs can be read');
  if (username || password) throw new PageProblem('its URL has a user name or a password in it');
  try {
    return await egress.admit(toTarget(url));
  } catch (error) {
    throw new PageProblem(error instanceof OutboundRefusal ? error.message : 'its host was not found');
  }
}

async function ask(url: URL, egress: EgressGate, signal: AbortSignal): Promise<HttpAnswer> {
  const destination = await admit(url, egress);
  const outcome = await exchange({ method: 'GET', url, headers }, destination, { signal, bodyBytes: mostPageBytes });
  if (outcome.how !== 'answered') throw new PageProblem('its server could not be reached');
  return outcome.answer;
}

async function readBody({ status, headers: answered, body, cut }: HttpAnswer, signal: AbortSignal): Promise<Buffer> {
  if (status < 200 || status > 299) throw new PageProblem(`its server answered with status ${status}`, status);
  if (signal.aborted) throw new PageProblem('it did not arrive in time');
  if (cut !== undefined)
    throw new PageProblem(body.length < mostPageBytes ? 'the connection to its server broke' : tooLarge);
  return decompressBody(body, (answered['content-encoding'] ?? 'identity').toLowerCase());
}

const tooLarge = `it is larger than ${mostPageBytes / 1024 / 1024} MiB`;
type Decompress = (body: Buffer, limits: { maxOutputLength: number }) => Promise<Buffer>;
const decompressors: ReadonlyMap<string, Decompress> = new Map([
  ['gzip', promisify<Buffer, object, Buffer>(gunzip)],
  ['deflate', promisify<Buffer, object, Buffer>(inflate)],
  ['br', promisify<Buffer, object, Buffer>(brotliDecompress)],
]);

async function decompressBody(body: Buffer, encoding: string): Promise<Buffer> {
  if (encoding === 'identity') return body;
  const decompress = decompressors.get(encoding);
  if (!decompress) throw new PageProblem(`it is compressed in an unknown way (${encoding.slice(0, 20)})`);
  try {
    return await decompress(body, { maxOutputLength: mostPageBytes });
  } catch (error) {
    const isTooLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'; // Node's own errors carry a code.
    throw new PageProblem(isTooLarge ? tooLarge : 'its body is damaged');
  }
}
