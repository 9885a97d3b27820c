import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { UsageError } from './command';

const { RONDO_URL, RONDO_API_KEY, NO_COLOR, TERM, OPENAI_API_KEY, ANTHROPIC_API_KEY, TAVILY_API_KEY } = process.env;

/** Keys of model providers, for the setup. */
export const modelKeys = { openai: OPENAI_API_KEY, anthropic: ANTHROPIC_API_KEY } as const;
export const searchKey = TAVILY_API_KEY;

const usualUrl = 'http://localhost:3000';

/** A terminal that can only add text. */
export const isDumb = TERM === 'dumb';
export const wantsColour = NO_COLOR === undefined && !isDumb;

/** Where the gateway is, and the key for it: from the options, the environment, or the checkout that the command runs in. */
export function gatewayOf(given: { readonly url: string | undefined; readonly key: string | undefined }) {
  const url = given.url ?? RONDO_URL ?? ofCheckout('url') ?? usualUrl;
  return { url, key: () => given.key ?? RONDO_API_KEY ?? keyOfCheckout(url) ?? missingKey() };
}

/** It is the key of the gateway that `npm start` started, and no other server may learn it. */
const keyOfCheckout = (url: string): string | undefined =>
  url === ofCheckout('url') || isOfThisMachine(url) ? ofCheckout('api-key') : undefined;

/** Whether nothing that is sent there leaves this machine. */
export const isOfThisMachine = (url: string): boolean =>
  URL.canParse(url) && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(url).hostname);

/** Only what `npm start` wrote: a file of another place could be a trap. */
function ofCheckout(name: 'api-key' | 'url'): string | undefined {
  const folder = checkout();
  if (folder === undefined) return undefined;
  const file = join(folder, '.data', name);
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined;
}

/** The folder of Rondo's sources that the command was started in or below. */
export function checkout(from = process.cwd()): string | undefined {
  const isCheckout = existsSync(join(from, 'deploy/local/start.mjs'));
  if (isCheckout) return from;
  return dirname(from) === from ? undefined : checkout(dirname(from));
}

function missingKey(): never {
  throw new UsageError(
    'There is no API key. Give --key or RONDO_API_KEY; in a checkout, `npm start` makes one in .data/api-key.',
  );
}
