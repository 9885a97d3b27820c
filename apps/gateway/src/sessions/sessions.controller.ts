import { Controller } from '@nestjs/common';
import { sessions } from '@rondo/contract/api';
import { AuditLog, type Caller, type NewSession } from '@rondo/persistence';
import type { Request, Response } from 'express';
import { Authenticator } from '../auth/authenticator';
import { isOpenedDirectly, sessionCookie } from '../auth/browser-cookie';
import { Route, type RouteInput } from '../http/route';
import { ApiError } from '../problems/api-error';
import { SessionService } from './session-service';

/** Relative, because a reverse proxy may have put the gateway below a path. */
const console = 'console/';

@Controller()
export class SessionsController {
  constructor(
    private readonly sessionService: SessionService,
    private readonly authenticator: Authenticator,
    private readonly auditLog: AuditLog,
  ) {}

  @Route(sessions.createSession)
  async createSession({ caller, response }: RouteInput<typeof sessions.createSession>) {
    return this.signIn(response, await this.sessionService.begin(caller));
  }

  @Route(sessions.getSession)
  getSession({ caller }: RouteInput<typeof sessions.getSession>) {
    return this.describe(caller);
  }

  @Route(sessions.deleteSession)
  async deleteSession({ caller, request, response }: RouteInput<typeof sessions.deleteSession>) {
    await this.sessionService.end(caller);
    response.setHeader('Set-Cookie', sessionCookie.write(request.headers, ''));
  }

  @Route(sessions.listSessions)
  listSessions({ address: { accountId }, query }: RouteInput<typeof sessions.listSessions>) {
    return this.sessionService.list({ accountId, ...query });
  }

  @Route(sessions.endSession)
  async endSession({ address: { accountId, namedSessionId } }: RouteInput<typeof sessions.endSession>) {
    await this.sessionService.endInAccount({ accountId, sessionId: namedSessionId });
  }

  @Route(sessions.createSessionLink)
  async createSessionLink({ caller }: RouteInput<typeof sessions.createSessionLink>) {
    const { code, expiresAt } = await this.sessionService.createLink(caller);
    return { path: `/session?code=${code}`, expires_at: expiresAt.toISOString() };
  }

  @Route(sessions.redeemSessionLink)
  async redeemSessionLink({ query, request, response }: RouteInput<typeof sessions.redeemSessionLink>) {
    this.authenticator.countHandshake(request);
    requireOpenedDirectly(request);
    const begun = await this.sessionService.redeem(query.code);
    const { session: caller } = begun;
    const act = { caller, address: this.authenticator.readAddress(request), action: 'session.create' };
    await this.auditLog.record({ ...act, target: caller.sessionId }, () => this.signIn(response, begun));
    response.location(console);
  }

  private signIn(response: Response, { session, secret }: NewSession) {
    response.setHeader('Set-Cookie', sessionCookie.write(response.req.headers, secret, session.expiresAt));
    return this.describe(session);
  }

  private async describe(caller: Caller) {
    const { accountId, keyId, scopes, sessionId, expiresAt } = caller;
    const names = await this.sessionService.names(caller);
    return {
      account_id: accountId,
      ...(names && { account_name: names.account, caller_name: names.key }),
      caller_id: keyId,
      scopes,
      session_id: sessionId ?? null,
      expires_at: expiresAt?.toISOString() ?? null,
      operates_deployment: this.sessionService.operates(caller),
    };
  }
}

function requireOpenedDirectly({ method, headers }: Request): void {
  if (method !== 'GET') throw new ApiError('method_not_allowed', 'Open the link.', { Allow: 'GET' });
  if (isOpenedDirectly(headers)) return;
  throw new ApiError('forbidden', 'Open the link itself: a page of another origin may not sign a browser in.');
}
