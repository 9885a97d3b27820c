import { type InlineImage, imageHeader, largestImage } from '@rondo/contract';
import {
  CheckedDestination,
  type HttpAnswer,
  OutboundRefusal,
  type OutboundRules,
  type Resolve,
  anySignal,
  authority,
  exchange,
  operatorsRules,
  findRedirect,
  toTarget,
} from '@rondo/platform';

export interface ImageRules extends OutboundRules {
  /** `host:port` of servers that may be asked though their address is private. */
  readonly internalHosts: readonly string[];
  readonly resolveInternal: Resolve;
  /** For everything, redirects included. */
  readonly timeoutMs: number;
}

/** Why an image is not loaded. The message is for the model: it names no address but what the user wrote. */
export class ImageProblem extends Error {
  override readonly name = 'ImageProblem';

  constructor(
    message: string,
    /** It may be gone at the next attempt. */
    readonly mayPass = false,
  ) {
    super(message);
  }
}

const maxRedirects = 5;

/**
 * Fetches an image from a URL that a client gave: only from addresses that were checked, at every redirect anew, and no
 * more than may be kept. What it is, its bytes say; what the server says about them counts for nothing. Rejects with
 * ImageProblem.
 */
export async function fetchImage(url: string, rules: ImageRules, signal: AbortSignal): Promise<InlineImage> {
  const enough = anySignal([signal, AbortSignal.timeout(rules.timeoutMs)]);
  try {
    return imageIn(await follow(new URL(url), rules, enough.signal));
  } catch (error) {
    if (enough.signal.aborted) throw new ImageProblem(`it did not arrive within ${rules.timeoutMs / 1000} s`, true);
    throw error;
  } finally {
    enough.release();
  }
}

async function follow(first: URL, rules: ImageRules, signal: AbortSignal): Promise<HttpAnswer> {
  let url = first;
  for (let followed = 0; followed <= maxRedirects; followed += 1) {
    const answer = await ask(url, rules, signal);
    const next = findRedirect(url, answer);
    if (!next) return answer;
    url = next;
  }
  throw new ImageProblem(`its server redirects more than ${maxRedirects} times`);
}

async function ask(url: URL, rules: ImageRules, signal: AbortSignal): Promise<HttpAnswer> {
  const destination = await Promise.race([readDestination(url, rules), readAbortion(signal)]);
  const headers = { accept: 'image/png, image/jpeg, image/gif, image/webp' };
  const outcome = await exchange({ method: 'GET', url, headers }, destination, { signal, bodyBytes: largestImage });
  if (outcome.how === 'answered') return outcome.answer;
  throw new ImageProblem('its server could not be reached', true);
}

async function readDestination(url: URL, rules: ImageRules): Promise<CheckedDestination> {
  const { protocol, username, password } = url;
  if (protocol !== 'http:' && protocol !== 'https:') throw new ImageProblem('it is not at an http or https URL');
  if (username || password) throw new ImageProblem('its URL has a user name or a password in it');

  const target = toTarget(url);
  const isInternal = rules.internalHosts.includes(authority(target));
  try {
    return await CheckedDestination.check(target, isInternal ? operatorsRules(rules.resolveInternal) : rules);
  } catch (error) {
    // The refusal names the host, which a redirect may have chosen: it must not reveal names or addresses.
    if (error instanceof OutboundRefusal) throw new ImageProblem('its host is not a public address');
    throw new ImageProblem('its host was not found', true);
  }
}

function readAbortion(signal: AbortSignal): Promise<never> {
  signal.throwIfAborted();
  return new Promise((_, reject) =>
    signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true }),
  );
}

function imageIn({ status, body, cut }: HttpAnswer): InlineImage {
  if (status < 200 || status > 299) {
    throw new ImageProblem(
      `its server answered with status ${status}`,
      status >= 500 || [408, 425, 429].includes(status),
    );
  }
  if (cut !== undefined) {
    if (body.length >= largestImage) throw new ImageProblem(`it is larger than ${largestImage / 1024 / 1024} MiB`);
    throw new ImageProblem('the connection to its server broke', true);
  }
  const data = body.toString('base64');
  const header = imageHeader(data);
  if (!header) throw new ImageProblem('it is no PNG, JPEG, GIF or WebP image');
  return { ...header, data };
}
