import {
  CheckedDestination,
  type CheckedFetch,
  type OutboundProxy,
  createCheckedFetch,
  operatorsRules,
  resolveWithSystem,
} from '@rondo/platform';
import { type JWTVerifyGetKey, createRemoteJWKSet, customFetch } from 'jose';
import { z } from 'zod';

const timeoutMs = 5_000;
const fetchedAgainAfterMs = 5_000;
const discoveredForMs = 3_600_000;
const retryAfterMs = 5_000;
const mostBytes = 256 * 1024;

/** The issuer gave no usable answer. Its tokens cannot be checked now; API keys are not affected. */
export class IssuerUnavailable extends Error {
  override readonly name = 'IssuerUnavailable';
}

interface Discovered {
  readonly find: JWTVerifyGetKey;
  readonly until: number;
}

/**
 * The keys of an issuer, found by OpenID Connect Discovery. They are kept; a token signed by a key that is not among them has
 * them fetched again, every five seconds at most, so that the issuer can exchange its keys at any time.
 */
export class IssuerKeys {
  private discovered: Discovered | undefined;
  private discovering: Promise<Discovered> | undefined;
  private failedUntil = -Infinity;

  private readonly fetch: CheckedFetch;

  constructor(
    private readonly issuer: string,
    proxy?: OutboundProxy,
  ) {
    const rules = operatorsRules(resolveWithSystem(), proxy);
    this.fetch = createCheckedFetch({
      admit: (target) => CheckedDestination.check(target, rules),
      bodyBytes: mostBytes,
    });
  }

  /** The key that signed a token. Rejects with IssuerUnavailable, or with an error of jose for a key that the issuer has not. */
  readonly find: JWTVerifyGetKey = async (header, token) => (await this.current()).find(header, token);

  /** After an hour it is renewed, and the former one goes on if that fails. */
  private async current(): Promise<Discovered> {
    if (this.discovered && this.discovered.until > performance.now()) return this.discovered;
    try {
      return await this.discover();
    } catch (error) {
      if (this.discovered) return this.discovered;
      throw error;
    }
  }

  private discover(): Promise<Discovered> {
    if (this.failedUntil > performance.now()) return Promise.reject(new IssuerUnavailable('it gave no answer lately'));
    this.discovering ??= this.read().finally(() => (this.discovering = undefined));
    return this.discovering;
  }

  private async read(): Promise<Discovered> {
    try {
      const uri = await this.findJwksUri();
      const find = createRemoteJWKSet(uri, {
        ...{ timeoutDuration: timeoutMs, cooldownDuration: fetchedAgainAfterMs },
        [customFetch]: this.fetch,
      });
      this.discovered = { find, until: performance.now() + discoveredForMs };
      return this.discovered;
    } catch (error) {
      this.failedUntil = performance.now() + retryAfterMs;
      throw new IssuerUnavailable('its configuration could not be read', { cause: error });
    }
  }

  /** The document names its issuer, so that one issuer cannot pass for another. */
  private async findJwksUri(): Promise<URL> {
    const { issuer } = this;
    const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
    const response = await this.fetch(url, { signal: AbortSignal.timeout(timeoutMs) });
    if (!response.ok) {
      await response.body?.cancel();
      throw new Error(`status ${response.status}`); // A redirect is not followed.
    }
    const document = z
      .object({
        issuer: z.literal(issuer),
        jwks_uri: z.url({ protocol: new RegExp(`^${new URL(issuer).protocol.slice(0, -1)}$`) }),
      })
      .parse(JSON.parse(await response.text()));
    return new URL(document.jwks_uri);
  }
}
