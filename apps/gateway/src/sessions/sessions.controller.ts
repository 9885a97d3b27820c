import { Body, Controller, Delete, Get, HttpCode, Post, Query, Res } from '@nestjs/common';
import {
  ApiCreatedResponse,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiResponse,
  ApiTags,
} from '@nestjs/swagger';
import { AuditLog, type Caller, type NewSession } from '@rondo/persistence';
import type { Response } from 'express';
import { Audited } from '../audit/audited';
import { CurrentCaller, RequireRole } from '../auth/api-key.guard';
import { Authenticator } from '../auth/authenticator';
import { isOpenedDirectly } from '../auth/same-origin';
import { sessionCookie } from '../auth/session-cookie';
import { NoQuery } from '../http/no-query';
import { ApiError } from '../problems/api-error';
import { NewSessionDto, SessionCodeDto, SessionDto, SessionLinkDto } from './session.dto';
import { SessionService } from './session-service';

const setCookie = { 'Set-Cookie': { schema: { type: 'string' } } } as const;
const console = '/console/';

@ApiTags('sessions')
@Controller()
export class SessionsController {
  constructor(
    private readonly sessionService: SessionService,
    private readonly authenticator: Authenticator,
    private readonly auditLog: AuditLog,
  ) {}

  @Post('v1/session')
  @Audited('session.create')
  @RequireRole('reader')
  @ApiOperation({
    summary: 'Sign a browser in with an API key or a token: sets a cookie',
    description:
      'The cookie can do what the key can, and is refused from pages of other origins. It ends after `SESSION_HOURS`, with ' +
      'its key, or when it is deleted.',
  })
  @ApiCreatedResponse({ type: SessionDto.Output, headers: setCookie })
  async createSession(
    @CurrentCaller() caller: Caller,
    @Body() _: NewSessionDto,
    @Res({ passthrough: true }) response: Response,
  ) {
    return signIn(response, await this.sessionService.begin(caller));
  }

  @Get('v1/session')
  @ApiOperation({ summary: 'Read who this request is made by' })
  @ApiOkResponse({ type: SessionDto.Output })
  getSession(@CurrentCaller() caller: Caller, @NoQuery() _: unknown) {
    return shown(caller);
  }

  @Delete('v1/session')
  @Audited('session.end')
  @RequireRole('reader')
  @HttpCode(204)
  @ApiOperation({ summary: 'Sign out: ends the session of this request and closes its connections' })
  @ApiNoContentResponse({ headers: setCookie })
  async deleteSession(@CurrentCaller() caller: Caller, @Res({ passthrough: true }) response: Response) {
    await this.sessionService.end(caller);
    response.setHeader('Set-Cookie', sessionCookie(response.req.headers, ''));
  }

  @Post('v1/session/links')
  @Audited('session_link.create')
  @RequireRole('account-admin')
  @ApiOperation({ summary: 'Make a link that signs one browser in, with the rights of this key; for admins' })
  @ApiCreatedResponse({ type: SessionLinkDto.Output })
  async createSessionLink(@CurrentCaller() caller: Caller, @Body() _: NewSessionDto) {
    const { code, expiresAt } = await this.sessionService.createLink(caller);
    return { path: `/session?code=${code}`, expires_at: expiresAt.toISOString() };
  }

  @Get('session')
  @ApiOperation({ summary: 'Sign this browser in with the code of a link, and go to the console' })
  @ApiResponse({ status: 303, description: 'Signed in.', headers: setCookie })
  async redeemSessionLink(@Query() { code }: SessionCodeDto, @Res() response: Response): Promise<void> {
    const { req: request } = response;
    this.authenticator.countHandshake(request);
    if (request.method !== 'GET') throw new ApiError('method_not_allowed', 'Open the link.', { Allow: 'GET' });
    if (!isOpenedDirectly(request.headers)) {
      throw new ApiError('forbidden', 'Open the link itself: a page of another origin may not sign a browser in.');
    }
    const begun = await this.sessionService.redeem(code);
    const { session: caller } = begun;
    const act = { caller, address: this.authenticator.addressOf(request), action: 'session.create' };
    await this.auditLog.record({ ...act, target: caller.sessionId }, () => Promise.resolve(signIn(response, begun)));
    response.redirect(303, console);
  }
}

function signIn(response: Response, { session, secret }: NewSession) {
  response.setHeader('Set-Cookie', sessionCookie(response.req.headers, secret, session.expiresAt));
  return shown(session);
}

const shown = ({ accountId, keyId, scopes, sessionId, expiresAt }: Caller) => ({
  account_id: accountId,
  caller_id: keyId,
  scopes,
  session_id: sessionId ?? null,
  expires_at: expiresAt?.toISOString() ?? null,
});
