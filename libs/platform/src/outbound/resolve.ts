import { type LookupAddress } from 'node:dns';
import { Resolver, lookup } from 'node:dns/promises';

/** The addresses of a name. They are only a claim until they have been checked. */
export type Resolve = (host: string) => Promise<readonly string[]>;

export interface DnsOptions {
  /** As the operating system names them, unless given. */
  readonly servers?: readonly string[];
  readonly timeoutMs?: number;
}

const defaultTimeoutMs = 5_000;

/**
 * Asks the name servers, version 4 first, for so long at most. No thread waits for them, so that a name whose servers are
 * slow on purpose holds up nothing else. /etc/hosts and search domains are not looked at: they name what is not public.
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

export type Lookup = (host: string) => Promise<readonly LookupAddress[]>;

const systemLookup: Lookup = (host) => lookup(host, { all: true, verbatim: false });

/**
 * Asks the operating system, /etc/hosts included. Each question holds a thread that file access needs as well, and cannot
 * be taken back; so it is only for names that the operator has listed, each asked once at a time and two at most.
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
