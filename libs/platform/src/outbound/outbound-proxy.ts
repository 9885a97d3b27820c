import { z } from 'zod';
import { type Target, bareHost } from './target';

const proxyUrl = z.url({ protocol: /^https?$/, error: 'must be the URL of a proxy, for example http://proxy:3128' });

/** The proxy between a service and the internet, in the variables that other programs read too. */
export const proxyVariables = {
  HTTPS_PROXY: proxyUrl.optional().meta({
    description:
      'The proxy through which `https` addresses are reached; it may have a name and a password in it. What goes through it: [operations](operations.md#behind-an-outbound-proxy).',
    example: 'http://proxy.example:3128',
    otherwise: '`HTTP_PROXY`, or none',
  }),
  HTTP_PROXY: proxyUrl.optional().meta({
    description: 'The same for `http` addresses. It is asked with CONNECT for these too.',
    otherwise: 'none',
  }),
  NO_PROXY: z.string().optional().meta({
    description:
      'Hosts that are reached without the proxy, with their subdomains, separated by commas; `host:port` for one port, `*` for all hosts. This machine always is.',
    example: 'models.internal,.example.com',
    otherwise: 'none',
  }),
};

/** For services that send requests to addresses which users or models name. */
export const guardedProxyVariables = {
  ...proxyVariables,
  PROXY_BY_ADDRESS: z.stringbool().prefault('0').meta({
    description:
      '`1` resolves the names that users and models give here, checks their addresses and asks the proxy for the checked one, as without a proxy. Otherwise the proxy is asked by name, and its rules decide which addresses may be reached.',
  }),
};

type ProxyConfig = Partial<z.infer<z.ZodObject<typeof guardedProxyVariables>>>;

/** The proxies to use, as URLs; `noProxy` lists hosts that are reached without. */
export const readProxySettings = ({ HTTP_PROXY, HTTPS_PROXY, NO_PROXY }: ProxyConfig) => ({
  httpProxy: HTTP_PROXY,
  httpsProxy: HTTPS_PROXY,
  noProxy: NO_PROXY,
});

/** This machine is never reached through a proxy. */
const thisMachine = ['localhost', '127.0.0.1', '::1'];

interface DirectHost {
  readonly host: string;
  /** Undefined: every port. */
  readonly port: number | undefined;
}

/** Decides which requests leave through a proxy. The rules are those of the proxy of models, which undici implements. */
export class OutboundProxy {
  /** The proxy is asked to connect to addresses that were checked here, and not to names. */
  readonly byAddress: boolean;
  private readonly servers: { readonly http: URL | undefined; readonly https: URL | undefined };
  private readonly direct: readonly DirectHost[];
  private readonly isOff: boolean;

  private constructor({ HTTP_PROXY: http, HTTPS_PROXY: https = http, NO_PROXY = '', PROXY_BY_ADDRESS }: ProxyConfig) {
    this.byAddress = PROXY_BY_ADDRESS ?? false;
    this.servers = {
      http: http === undefined ? undefined : new URL(http),
      https: https === undefined ? undefined : new URL(https),
    };
    this.isOff = NO_PROXY === '*';
    this.direct = [...NO_PROXY.split(/[,\s]+/).filter((entry) => entry !== ''), ...thisMachine].map(readDirectHost);
  }

  /** Undefined if no proxy is configured. */
  static from(config: ProxyConfig): OutboundProxy | undefined {
    const isUsed = config.HTTP_PROXY !== undefined || config.HTTPS_PROXY !== undefined;
    return isUsed ? new OutboundProxy(config) : undefined;
  }

  /** The proxy through which this target is reached; undefined if it is reached directly. */
  serverFor({ hostname, port, protocol = port === 80 ? 'http:' : 'https:' }: Target): URL | undefined {
    const host = bareHost(hostname);
    const isDirect = this.direct.some(
      (one) => (one.port ?? port) === port && (host === one.host || host.endsWith(`.${one.host}`)),
    );
    if (this.isOff || isDirect) return undefined;
    return protocol === 'http:' ? this.servers.http : this.servers.https;
  }
}

function readDirectHost(entry: string): DirectHost {
  const [, host = entry, port] = /^(.*[^:]):(\d+)$/.exec(entry) ?? [];
  const isAddress = host.includes(':') && !host.startsWith('[');
  const plain = isAddress ? entry : host;
  return {
    host: bareHost(plain).replace(/^\*?\./, ''),
    port: port === undefined || isAddress ? undefined : Number(port),
  };
}

/** Endings of names that are only ever used inside of a network. */
const privateEndings = new Set([
  ...['localhost', 'localdomain', 'local', 'internal', 'intranet', 'private'],
  ...['lan', 'home', 'corp', 'arpa', 'svc'],
]);

/**
 * Whether a name may be one of the public internet, by its form alone. Names without a dot, and what a resolver could take for an
 * address (`127.1`), are not.
 */
export function isPublicName(name: string): boolean {
  const labels = bareHost(name).replace(/\.$/, '').split('.');
  const ending = labels.at(-1) ?? '';
  return labels.length > 1 && !labels.includes('') && !privateEndings.has(ending) && !/^(\d+|0x[\da-f]*)$/.test(ending);
}
