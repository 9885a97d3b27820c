import { type LookupAddress } from 'node:dns';
import { Resolver, lookup } from 'node:dns/promises';

/** The addresses of a name. They are untrusted until they have been checked. */
export type Resolve = (host: string) => Promise<readonly string[]>;

export interface DnsOptions {
  /** As the operating system names them, unless given. */
  readonly servers?: readonly string[];
  readonly timeoutMs?: number;
}

const defaultTimeoutMs = 5_000;

/**
 * Asks the name servers, version 4 first, with a time limit. It blocks no thread of the pool, so a name whose servers are
 * slow on purpose delays nothing else. /etc/hosts and search domains are not read, since they name private hosts.
 */
export function resolveByDns({ servers, timeoutMs = defaultTimeoutMs }: DnsOptions = {}): Resolve {
  return async (host) => {
    const resolver = new Resolver({ timeout: Math.ceil(timeoutMs / 2), tries: 2 });
    if (servers) resolver.setServers(servers);
    const timer = setTimeout(() => resolver.cancel(), timeoutMs);
    try {
      const version4 = await resolver.resolve4(host).catch(noneFound);
      return version4.length > 0 ? version4 : await resolver.resolve6(host).catch(noneFound);
    } finally {
      clearTimeout(timer);
    }
  };
}

function noneFound(error: NodeJS.ErrnoException): string[] {
  if (error.code === 'ENODATA' || error.code === 'ENOTFOUND') return [];
  throw error;
}

type Lookup = (host: string) => Promise<readonly LookupAddress[]>;

const systemLookup: Lookup = (host) => lookup(host, { all: true, verbatim: false });

/**
 * Asks the operating system, /etc/hosts included. Each look-up occupies a thread of the pool, which file access needs
 * too, and cannot be cancelled; so it is only for names that the operator has listed, two at a time at most.
 */
export function resolveWithSystem(ask: Lookup = systemLookup, timeoutMs = defaultTimeoutMs): Resolve {
  const underWay = new Map<string, Promise<readonly string[]>>();

  async function start(host: string): Promise<readonly string[]> {
    const known = underWay.get(host);
    if (known) return known;
    if (underWay.size >= 2) {
      await Promise.race([...underWay.values()].map((other) => other.catch(() => undefined)));
      return start(host);
    }
    const asked = ask(host)
      .then((found) => found.map(({ address }) => address))
      .finally(() => underWay.delete(host));
    underWay.set(host, asked);
    return asked;
  }
  return (host) => within(timeoutMs, start(host));
}

async function within<T>(timeoutMs: number, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('The name was not resolved in time.')), timeoutMs);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
