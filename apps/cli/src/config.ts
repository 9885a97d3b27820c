import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { UsageError } from './command';

const { RONDO_URL, RONDO_API_KEY, NO_COLOR, TERM, OPENAI_API_KEY, ANTHROPIC_API_KEY } = process.env;
const { PATH, HOME, NODE_EXTRA_CA_CERTS, HTTP_PROXY, HTTPS_PROXY, NO_PROXY } = process.env;
const { TAVILY_API_KEY, BRAVE_API_KEY, SERPER_API_KEY, SERPAPI_API_KEY, JINA_API_KEY } = process.env;
const { FIRECRAWL_API_KEY, RAPIDAPI_KEY, DAYTONA_API_KEY } = process.env;

/** Keys of model providers, for the setup. */
export const modelKeys = { openai: OPENAI_API_KEY, anthropic: ANTHROPIC_API_KEY } as const;

/** Keys of other services, for the setup. */
export const serviceKeys: Readonly<Record<string, string | undefined>> = {
  ...{ TAVILY_API_KEY, BRAVE_API_KEY, SERPER_API_KEY, SERPAPI_API_KEY, JINA_API_KEY },
  ...{ FIRECRAWL_API_KEY, RAPIDAPI_KEY, DAYTONA_API_KEY },
};

type Variables = Readonly<Record<string, string | undefined>>;

const machine: Variables = { PATH, HOME };
const network: Variables = { NODE_EXTRA_CA_CERTS, HTTP_PROXY, HTTPS_PROXY, NO_PROXY };

/** What programs that this one starts need of the machine. How the network is, the settings say where the environment does not. */
export const toProgramEnvironment = (settings: Variables, given = network): NodeJS.ProcessEnv => ({
  ...machine,
  ...Object.fromEntries(Object.keys(network).map((name) => [name, given[name] ?? settings[name]])),
});

/** All variables: a provider's entry may name any of them as its key. */
export const allVariables: Readonly<Record<string, string | undefined>> = process.env;

/** The file of this program as it was started, perhaps by a link. */
export const program = process.argv[1] ?? '';

/** A program below the folder of Rondo's sources that this one is part of; undefined where it is not built. */
export function findProgram(path: string): string | undefined {
  const file = join(dirname(realpathSync(program)), '../../..', path);
  return existsSync(file) ? file : undefined;
}

const usualUrl = 'http://localhost:3000';

/** A terminal that can only add text. */
export const isDumb = TERM === 'dumb';
export const wantsColour = !NO_COLOR && !isDumb;

/** Where a URL and a key can come from. Options and the environment are the person's, a checkout may be a trap. */
export interface GatewaySources {
  readonly given: { readonly url: string | undefined; readonly key: string | undefined };
  readonly environment: { readonly url: string | undefined; readonly key: string | undefined };
  readonly checkout: { readonly url: string | undefined; readonly key: string | undefined };
}

/** The gateway, and a function for its key that throws a `UsageError` if there is none. */
export interface ChosenGateway {
  readonly url: string;
  readonly key: () => string;
}

/** Where the gateway is, and the key for it: from the options, the environment, or the checkout that the command runs in. */
export const findGateway = (given: GatewaySources['given']): ChosenGateway =>
  chooseGateway({
    given,
    environment: { url: RONDO_URL, key: RONDO_API_KEY },
    checkout: { url: readFromCheckout('url'), key: readFromCheckout('api-key') },
  });

/**
 * URL and key come from the same place: a key that the person gave is never sent to a URL that a folder names, since the folder may
 * be a trap, and the key of a checkout goes only to the gateway that `npm start` of that checkout started.
 */
export function chooseGateway({ given, environment, checkout }: GatewaySources): ChosenGateway {
  const ownUrl = given.url ?? (environment.url || undefined); // a variable that is empty says nothing
  const ownKey = given.key ?? (environment.key || undefined);
  const url = ownUrl ?? checkout.url ?? usualUrl;
  const isNamedByFolder = ownUrl === undefined && checkout.url !== undefined;
  const keyOfCheckout = isSameServer(url, checkout.url ?? usualUrl) ? checkout.key : undefined;
  return {
    url,
    key: () => {
      if (!isOfGateway(url)) throw new UsageError(`${url} is no URL of a gateway: it begins with http:// or https://.`);
      if (isNamedByFolder && ownKey !== undefined && ownKey !== keyOfCheckout) refuseToSendTo(url);
      return ownKey ?? keyOfCheckout ?? missingKey();
    },
  };
}

/** Whether a gateway can be at this URL. `localhost:3000` is one, too, with `localhost` as its scheme. */
export const isOfGateway = (url: string): boolean =>
  URL.canParse(url) && ['http:', 'https:'].includes(new URL(url).protocol);

/** The same origin; on this machine `localhost` and the loopback addresses are the same host. */
function isSameServer(one: string, other: string): boolean {
  if (!URL.canParse(one) || !URL.canParse(other)) return false;
  const [a, b] = [new URL(one), new URL(other)];
  const isSameHost = a.hostname === b.hostname || (isOfThisMachine(one) && isOfThisMachine(other));
  return a.protocol === b.protocol && a.port === b.port && isSameHost;
}

/** Whether nothing that is sent there leaves this machine. */
export const isOfThisMachine = (url: string): boolean =>
  URL.canParse(url) && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(url).hostname);

/** Only what `npm start` wrote: a file of another place could be a trap. */
function readFromCheckout(name: 'api-key' | 'url'): string | undefined {
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

function refuseToSendTo(url: string): never {
  throw new UsageError(
    `Your key (--key or RONDO_API_KEY) is not sent to ${url}, which the file .data/url of this folder names. ` +
      'Say where it belongs by --url or RONDO_URL, or leave it out to use the key of this checkout.',
  );
}

function missingKey(): never {
  throw new UsageError(
    'There is no API key. Give --key or RONDO_API_KEY; in a checkout, `npm start` makes one in .data/api-key.',
  );
}
