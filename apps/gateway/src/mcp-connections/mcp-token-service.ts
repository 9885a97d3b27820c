import { setTimeout as sleep } from 'node:timers/promises';
import { OAuthError } from '@modelcontextprotocol/client';
import { type AccountId, mcpConnectionPurpose, mcpTokenPurpose } from '@rondo/contract';
import type { McpTokenAnswer, McpTokenQuestion } from '@rondo/messaging';
import type { McpConnectionTarget, McpConnections, McpTokenRow, McpTokens } from '@rondo/persistence';
import { SealBroken, type SecretBox } from '@rondo/platform';
import { newSecret, toColumns, toHash } from './mcp-connection-service';
import { AuthorizationRefused, type OAuthRequests, type StoredAuthorization, toProblem } from './oauth-requests';

/** As long as a run may wait for people. */
const linkMs = 30 * 86_400_000;
const waitMs = 12_500;
const pollMs = 100;

interface McpTokenParts {
  readonly tokens: McpTokens;
  readonly connections: Pick<McpConnections, 'begin'>;
  readonly oauth: Pick<OAuthRequests, 'refresh'>;
  readonly box: Pick<SecretBox, 'seal' | 'open'> | undefined;
  readonly base: string;
}

/** One question, and whose connection it is about. */
interface Asked {
  readonly question: McpTokenQuestion;
  readonly target: McpConnectionTarget;
}

/** The authorization server has said that a person has to connect again, and not only that it cannot answer. */
const endings: readonly string[] = ['invalid_grant', 'invalid_client', 'unauthorized_client', 'invalid_scope'];

/**
 * Gives executors access tokens, for one request each: what the tables say at that moment decides, so the next request after a
 * disconnection carries none. Tokens are refreshed here, by one gateway at a time.
 */
export class McpTokenService {
  constructor(private readonly parts: McpTokenParts) {}

  async answer(question: McpTokenQuestion): Promise<McpTokenAnswer> {
    const { account_id: accountId, run_id: runId, url, owner } = question;
    const found = await this.parts.tokens.findOwner({ accountId, runId, url, owner });
    if ('refusal' in found) return refuse(found.refusal);
    const asked: Asked = { question, target: { accountId, user: found.user, url } };
    const until = performance.now() + waitMs;
    do {
      const answer = await this.attempt(asked);
      if (answer) return answer;
      await sleep(pollMs); // another gateway refreshes it, or has done so
    } while (performance.now() < until);
    return refuse('its token is being refreshed: try again later');
  }

  /** Undefined while another one refreshes the token. */
  private async attempt({ question, target }: Asked): Promise<McpTokenAnswer | undefined> {
    const row = await this.parts.tokens.find(target);
    const stored = row && this.read(target.accountId, row);
    if (!row || !stored || row.status !== 'connected') return this.missing(question, target);
    const isRefused = question.refused === row.version;
    if (isRefused && question.scopes) return this.insufficient(question, target, { ...row, wanted: question.scopes });
    if (!isRefused && !row.is_due && !row.is_expired) return this.token(target, row.version, stored);
    if (isRefused && row.is_fresh) return refuse('it refuses a token that was made for it a moment ago');
    return this.refresh({ question, target }, row, stored);
  }

  private async refresh(
    { question, target }: Asked,
    row: McpTokenRow,
    stored: StoredAuthorization,
  ): Promise<McpTokenAnswer | undefined> {
    const { tokens, oauth } = this.parts;
    const isUsable = !row.is_expired && question.refused !== row.version;
    if (stored.tokens.refresh_token === undefined && isUsable) return this.token(target, row.version, stored);
    if (!(await tokens.claim(row))) return isUsable ? this.token(target, row.version, stored) : undefined;
    try {
      const fresh = await oauth.refresh(stored);
      const { scopes, expiresAt } = toColumns(fresh);
      const sealed = this.box.seal(JSON.stringify(fresh), mcpConnectionPurpose(target.accountId, row.id));
      await tokens.store(row, { sealed, scopes: fresh.tokens.scope === undefined ? null : scopes, expiresAt });
      return undefined; // what is in the table now decides
    } catch (error) {
      if (error instanceof AuthorizationRefused || (error instanceof OAuthError && endings.includes(error.code))) {
        await tokens.expire(row, `Connect it again. ${toProblem(error)}`);
        return this.missing(question, target);
      }
      await tokens.release(row);
      if (isUsable) return this.token(target, row.version, stored);
      return refuse(`its token could not be refreshed: ${toProblem(error)}`);
    }
  }

  private token(
    { accountId, url }: McpConnectionTarget,
    version: number,
    { tokens }: StoredAuthorization,
  ): McpTokenAnswer {
    return { how: 'token', sealed: this.box.seal(tokens.access_token, mcpTokenPurpose(accountId, url)), version };
  }

  /** Scopes are only added: another call may need those that there are. */
  private async insufficient(
    question: McpTokenQuestion,
    target: McpConnectionTarget,
    { scopes, wanted }: { readonly scopes: readonly string[]; readonly wanted: readonly string[] },
  ): Promise<McpTokenAnswer> {
    const all = [...new Set([...scopes, ...wanted])];
    if (all.length === scopes.length)
      return refuse(`it wants scopes that its token has: ${wanted.join(' ')}`.slice(0, 500));
    return this.missing(question, target, all);
  }

  /** With a page on which a person can connect it, for a call that can wait for them. */
  private async missing(
    question: McpTokenQuestion,
    target: McpConnectionTarget,
    scopes: readonly string[] = [],
  ): Promise<McpTokenAnswer> {
    const { call_id: callId, run_id: runId } = question;
    const canWait =
      callId !== null && runId !== null && this.parts.box && (await this.parts.tokens.canWait(runId, callId));
    if (!canWait) return { how: 'missing', page: null };
    const link = newSecret('mcl_');
    const [hash, begunBy] = [toHash(link), runId];
    await this.parts.connections.begin(target, {
      link: { hash, begunBy, callId, scopes, sessionId: null, validMs: linkMs },
    });
    return { how: 'missing', page: `${this.parts.base}/oauth/connect?link=${link}` };
  }

  /** Undefined where there are no tokens, or they were sealed with another key. */
  private read(account: AccountId, { id, sealed }: McpTokenRow): StoredAuthorization | undefined {
    if (sealed === null || !this.parts.box) return undefined;
    try {
      return JSON.parse(this.parts.box.open(sealed, mcpConnectionPurpose(account, id))) as StoredAuthorization; // as it was sealed
    } catch (error) {
      if (error instanceof SealBroken) return undefined;
      throw error;
    }
  }

  private get box() {
    if (!this.parts.box) throw new Error('This gateway has no SECRETS_KEY.');
    return this.parts.box;
  }
}

const refuse = (reason: string): McpTokenAnswer => ({ how: 'refused', reason });
