import { createHash, randomBytes } from 'node:crypto';
import type { OAuthClientInformation } from '@modelcontextprotocol/client';
import { type AccountId, type CallId, type EndUser, type McpConnectionId, mcpConnectionPurpose } from '@rondo/contract';
import type { Caller, McpConnectLinks, McpConnectionAddress, McpConnections, McpLink } from '@rondo/persistence';
import type { SecretBox } from '@rondo/platform';
import { ApiError, refuseField } from '../problems/api-error';
import { type BegunAuthorization, type OAuthRequests, type StoredAuthorization, toProblem } from './oauth-requests';

const linkMs = 15 * 60_000;
const attemptMs = 10 * 60_000;

export interface McpConnectionParts {
  readonly connections: McpConnections;
  readonly links: McpConnectLinks;
  readonly oauth: OAuthRequests;
  /** Where people reach the gateway. */
  readonly base: string;
  /** Absent: this deployment keeps no secrets. */
  readonly box: Pick<SecretBox, 'seal' | 'open'> | undefined;
  /** A call that has waited for the connection goes on. */
  readonly resume: (call: { accountId: AccountId; callId: CallId; by: string }) => Promise<void>;
  /** The tokens of a connection that is deleted could not be revoked. */
  readonly onUnrevoked: (error: unknown) => void;
}

interface GivenConnection {
  readonly url: string;
  readonly user: EndUser | null;
  readonly scopes?: readonly string[] | undefined;
  readonly client?: { readonly id: string; readonly secret?: string | undefined } | undefined;
}

interface Return {
  readonly state?: string | undefined;
  readonly code?: string | undefined;
  readonly iss?: string | undefined;
  readonly error?: string | undefined;
}

/** What becomes of a person who comes back from the authorization server. */
export type Finished =
  { readonly how: 'connected'; readonly url: string } | { readonly how: 'failed'; readonly reason: string };

/** Connects MCP servers by OAuth: a page, the way to the authorization server, and back with a code. */
export class McpConnectionService {
  constructor(private readonly parts: McpConnectionParts) {}

  /** Rejects with InvalidRequest where this deployment keeps no secrets. */
  async begin({ accountId, keyId, sessionId }: Caller, { client, scopes = [], ...target }: GivenConnection) {
    const { connections, base } = this.parts;
    const box = this.requireBox();
    const link = newSecret('mcl_');
    const given: OAuthClientInformation | undefined = client && {
      client_id: client.id,
      ...(client.secret !== undefined && { client_secret: client.secret }),
    };
    const connection = await connections.begin(
      { accountId, ...target },
      {
        link: {
          ...{ hash: toHash(link), scopes, begunBy: keyId, callId: null, validMs: linkMs },
          sessionId: sessionId ?? null,
        },
        ...(given && { seal: (id) => box.seal(JSON.stringify(given), mcpConnectionPurpose(accountId, id)) }),
      },
    );
    return {
      ...connection,
      authorization_url: `${base}/oauth/connect?link=${link}`,
      authorization_expires_at: new Date(Date.now() + linkMs).toISOString(),
    };
  }

  /** Rejects with `not_found` where there is none, or it is for another browser. */
  async readLink(link: string, sessionId: string | undefined): Promise<McpLink> {
    const found = await this.parts.links.find(toHash(link));
    if (!found) throw new ApiError('not_found', 'This page can be used no more. Begin again where you came from.');
    if (found.session_id !== null && found.session_id !== sessionId)
      throw new ApiError('forbidden', 'Open this page in the browser in which it was begun.');
    return found;
  }

  /** Where the browser goes. A failure is noted at the connection, and the browser sees the page again. */
  async goOn(
    link: string,
    sessionId: string | undefined,
  ): Promise<{ location: string; browser: string; validMs: number }> {
    const { links, oauth } = this.parts;
    const found = await this.readLink(link, sessionId);
    const [state, browser] = [newSecret(''), newSecret('')];
    try {
      const { location, begun } = await oauth.begin({
        ...{ url: found.url, state, scopes: found.scopes },
        given: this.open(found, found.given) as OAuthClientInformation | undefined,
        before: this.open(found, found.sealed) as StoredAuthorization | undefined,
      });
      const sealed = this.seal(found, begun);
      await links.begin(found.hash, {
        stateHash: toHash(state),
        browserHash: toHash(browser),
        sealed,
        validMs: attemptMs,
      });
      return { location: location.href, browser, validMs: attemptMs };
    } catch (error) {
      await links.fail(found, toProblem(error));
      return { location: `connect?link=${encodeURIComponent(link)}`, browser: '', validMs: 0 };
    }
  }

  /** `browser` is what the browser was given when it left. Anyone may call it with anything. */
  async finish({ state, code, iss, error }: Return, browser: string | undefined): Promise<Finished> {
    const { links, oauth } = this.parts;
    if (state === undefined || browser === undefined) return unknown;
    const link = await links.take(toHash(state), toHash(browser));
    const begun = link && (this.open(link, link.attempt) as BegunAuthorization | undefined);
    if (!begun) return unknown;
    if (code === undefined)
      return this.fail(link, `It was not allowed: ${toProblem(new Error(error ?? 'no code came'))}`);
    try {
      const stored = await oauth.finish(begun, { code, iss });
      const { issuer = '' } = stored.tokens;
      const { client_id: clientId } = stored.client;
      const calls = await links.complete(link, {
        ...toColumns(stored),
        issuer,
        clientId,
        sealed: this.seal(link, stored),
      });
      if (!calls) return unknown;
      await Promise.all(
        calls.map((callId) => this.parts.resume({ accountId: link.account_id, callId, by: link.begun_by })),
      );
      return { how: 'connected', url: link.url };
    } catch (failure) {
      return this.fail(link, toProblem(failure));
    }
  }

  /** No further request carries its tokens. The authorization server learns of it afterwards. */
  async delete(address: McpConnectionAddress): Promise<void> {
    const sealed = await this.parts.connections.delete(address);
    const { accountId: account_id, mcpConnectionId: connection_id } = address;
    const stored = this.open({ account_id, connection_id }, sealed) as StoredAuthorization | undefined;
    if (stored) void this.parts.oauth.revoke(stored).catch(this.parts.onUnrevoked);
  }

  private async fail(link: McpLink, reason: string): Promise<Finished> {
    await this.parts.links.fail(link, reason);
    return { how: 'failed', reason };
  }

  private requireBox() {
    const { box } = this.parts;
    if (box) return box;
    throw refuseField('url', 'needs SECRETS_KEY, which this deployment has not set');
  }

  private seal({ account_id: account, connection_id: id }: Owner, value: object): string {
    return this.requireBox().seal(JSON.stringify(value), mcpConnectionPurpose(account, id));
  }

  /** It was sealed by `seal`, so it has the form that it had. */
  private open({ account_id: account, connection_id: id }: Owner, sealed: string | null): unknown {
    if (sealed === null) return undefined;
    return JSON.parse(this.requireBox().open(sealed, mcpConnectionPurpose(account, id)));
  }
}

type Owner = { readonly account_id: AccountId; readonly connection_id: McpConnectionId };

/** What is shown of tokens. */
export function toColumns({ tokens }: StoredAuthorization) {
  const { expires_in: seconds, scope } = tokens;
  return {
    scopes: scope === undefined ? [] : scope.split(' ').slice(0, 100),
    expiresAt: seconds === undefined ? null : new Date(Date.now() + Math.min(seconds, mostSeconds) * 1_000),
  };
}
const mostSeconds = 10 * 365 * 86_400;

export const newSecret = (prefix: string): string => `${prefix}${randomBytes(24).toString('base64url')}`;
export const toHash = (secret: string): string => createHash('sha256').update(secret).digest('hex');

const unknown: Finished = {
  how: 'failed',
  reason: 'Nothing was begun in this browser that this could be the end of, or its time is over.',
};
