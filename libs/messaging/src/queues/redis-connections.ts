import { readFileSync } from 'node:fs';
import { Redis } from 'ioredis';

const retryStrategy = (attempt: number): number => Math.min(100 * 2 ** Math.min(attempt, 5), 2_000);

/** For processes that add jobs: a request must not hang while Redis does. Throws if the URL is not one of Redis. */
export const producerConnection = (url: string) => ({
  ...readRedisUrl(url),
  connectTimeout: 5_000,
  commandTimeout: 5_000,
  socketTimeout: 6_000,
  maxRetriesPerRequest: 1,
  keepAlive: 10_000,
  disconnectTimeout: 300,
  retryStrategy,
});

/**
 * For workers: blocking commands wait without limit, through restarts of Redis too. A connection on which Redis does not
 * answer for longer than any blocking command lasts is half-open, which raises no error by itself; it is replaced.
 */
export const workerConnection = (url: string) => ({
  ...readRedisUrl(url),
  connectTimeout: 5_000,
  maxRetriesPerRequest: null,
  socketTimeout: 15_000,
  keepAlive: 10_000,
  disconnectTimeout: 300,
  retryStrategy,
});

/** A connection of its own beside those of the queues; commands are refused at once while Redis is away. */
export function openRedis(givenUrl: string, commandTimeout: number): Redis {
  const { url, ...connection } = producerConnection(givenUrl);
  const options = { ...connection, commandTimeout, enableOfflineQueue: false };
  return url === undefined ? new Redis(options) : new Redis(url, options);
}

interface TlsFiles {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

/** The options of the client library that a URL decides: `url`, or what replaces it with sentinels. */
interface Address {
  readonly url?: string;
  readonly name?: string;
  readonly sentinels?: { host: string; port: number }[];
  readonly sentinelRetryStrategy?: (attempt: number) => number;
  readonly username?: string;
  readonly password?: string;
  readonly db?: number;
  readonly sentinelUsername?: string;
  readonly sentinelPassword?: string;
  readonly tls?: TlsFiles;
  readonly enableTLSForSentinelMode?: boolean;
  readonly sentinelTLS?: TlsFiles;
}

const form =
  /^redis(?<tls>s?)\+sentinel:\/\/(?:(?<user>[^:@/\s]*)(?::(?<password>[^@/\s]*))?@)?(?<hosts>[^@/?\s]+)\/(?<name>[^/?\s]+)(?:\/(?<database>\d+))?(?:\?(?<query>\S*))?$/;
const formInWords = 'redis+sentinel://user:password@sentinel:port,sentinel:port/name of the primary/database';

/**
 * The options of REDIS_URL. With sentinels the client asks them for the primary whenever it connects. Their own user and password are the
 * parameters `sentinel_user` and `sentinel_password`; `sslrootcert`, `sslcert` and `sslkey` name PEM files, also without sentinels.
 */
function readRedisUrl(url: string): Address {
  if (!/^rediss?\+sentinel:/.test(url)) return readSingleUrl(url);
  const groups = form.exec(url)?.groups;
  if (!groups) throw new Error(`REDIS_URL must be ${formInWords}`);
  const { tls, user, password, hosts = '', name = '', database, query } = groups;
  const parameters = new URLSearchParams(query);
  const files = readFiles(parameters);
  const [sentinelUsername, sentinelPassword] = ['sentinel_user', 'sentinel_password'].map((key) => parameters.get(key));
  return {
    name: decodeURIComponent(name),
    sentinels: hosts.split(',').map(readHost),
    sentinelRetryStrategy: retryStrategy,
    ...(user && { username: decodeURIComponent(user) }),
    ...(password && { password: decodeURIComponent(password) }),
    ...(database && { db: Number(database) }),
    ...(sentinelUsername && { sentinelUsername }),
    ...(sentinelPassword && { sentinelPassword }),
    ...(tls && { tls: files, enableTLSForSentinelMode: true, sentinelTLS: files }),
  };
}

/** The client library reads the URL, parameters of its own included, but would ignore files in one with `rediss://`. */
function readSingleUrl(url: string): Address {
  if (!/[?&]ssl(rootcert|cert|key)=/.test(url)) return { url };
  const { searchParams } = new URL(url);
  const files = readFiles(searchParams);
  return { url: url.replace(/^rediss:/, 'redis:').replace(/\?.*$/, ''), tls: files };
}

function readHost(text: string): { host: string; port: number } {
  const { hostname, port } = new URL(`redis://${text}`);
  return { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(port || 26_379) };
}

function readFiles(parameters: URLSearchParams): TlsFiles {
  const named = { ca: 'sslrootcert', cert: 'sslcert', key: 'sslkey' };
  const found = Object.entries(named).flatMap(([option, parameter]) => {
    const path = parameters.get(parameter);
    return path === null ? [] : [[option, readFileSync(path, 'utf8')]];
  });
  return Object.fromEntries(found) as TlsFiles; // the keys of `named`
}
