import { type AccountId, type SessionId, apiKeyId } from '@rondo/contract';
import type { Caller, CallerNames, ListedSession, NewSession, Page, SessionLink, Sessions } from '@rondo/persistence';
import type { DeploymentOperator } from '../auth/deployment-operator';
import type { Revocations } from '../auth/open-connections';
import { ApiError, refuseUnauthorized } from '../problems/api-error';

interface SessionServiceParts {
  readonly sessions: Sessions;
  readonly revocations: Revocations;
  readonly operator: Pick<DeploymentOperator, 'includes'>;
  readonly sessionSeconds: number;
  readonly linkSeconds: number;
}

/** Signs browsers in and out. */
export class SessionService {
  constructor(private readonly parts: SessionServiceParts) {}

  /** Whether the caller may operate the deployment. */
  operates(caller: Caller): boolean {
    return this.parts.operator.includes(caller);
  }

  names(caller: Caller): Promise<CallerNames | undefined> {
    return this.parts.sessions.names(caller);
  }

  begin(caller: Caller): Promise<NewSession> {
    requireOwnCredential(caller);
    return this.parts.sessions.begin(caller, this.parts.sessionSeconds);
  }

  /** Its connections are closed, too. */
  async end({ sessionId }: Caller): Promise<void> {
    if (sessionId === undefined) throw new ApiError('forbidden', 'This request was made without a session.');
    await this.parts.sessions.end(sessionId);
    await this.parts.revocations.apply();
  }

  /** Those of an account that are not over. */
  list(request: Parameters<Sessions['list']>[0]): Promise<Page<ListedSession>> {
    return this.parts.sessions.list(request);
  }

  /** Ends a session of an account, of any caller. Its connections are closed, too. Rejects with `session_not_found`. */
  async endInAccount(address: { readonly accountId: AccountId; readonly sessionId: SessionId }): Promise<void> {
    await this.parts.sessions.endInAccount(address);
    await this.parts.revocations.apply();
  }

  createLink(caller: Caller): Promise<SessionLink> {
    requireOwnCredential(caller);
    const { data: keyId } = apiKeyId.safeParse(caller.keyId);
    if (keyId === undefined) throw new ApiError('forbidden', 'A link to sign in is made with an API key.');
    return this.parts.sessions.createLink({ accountId: caller.accountId, keyId }, this.parts.linkSeconds);
  }

  async redeem(code: string): Promise<NewSession> {
    const begun = await this.parts.sessions.redeem(code, this.parts.sessionSeconds);
    if (!begun) throw refuseUnauthorized('This link was used before, or is too old. Make another one.');
    return begun;
  }
}

/** Otherwise a session could prolong itself without end. */
function requireOwnCredential({ sessionId }: Caller): void {
  if (sessionId === undefined) return;
  throw new ApiError('forbidden', 'A session is made with an API key or a token, not with another session.');
}
