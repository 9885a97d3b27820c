import { Controller, StreamableFile } from '@nestjs/common';
import { mcpConnections as routes, mcpConnectPages } from '@rondo/contract/api';
import { McpConnections } from '@rondo/persistence';
import type { Request, Response } from 'express';
import { Route, type RouteInput } from '../http/route';
import { McpConnectionService } from './mcp-connection-service';
import { Authenticator } from '../auth/authenticator';
import { connectCookie, isSameOrigin } from '../auth/browser-cookie';
import { ApiError } from '../problems/api-error';
import { askPage, donePage, writeFailure, pagePolicy } from './connect-page';
import { OAuthRequests } from './oauth-requests';

@Controller()
export class McpConnectionsController {
  constructor(
    private readonly service: McpConnectionService,
    private readonly connections: McpConnections,
  ) {}

  @Route(routes.beginMcpConnection)
  beginMcpConnection({ caller, body }: RouteInput<typeof routes.beginMcpConnection>) {
    return this.service.begin(caller, body);
  }

  @Route(routes.listMcpConnections)
  listMcpConnections({ address, query }: RouteInput<typeof routes.listMcpConnections>) {
    return this.connections.list({ ...address, ...query });
  }

  @Route(routes.getMcpConnection)
  getMcpConnection({ address }: RouteInput<typeof routes.getMcpConnection>) {
    return this.connections.get(address);
  }

  @Route(routes.deleteMcpConnection)
  deleteMcpConnection({ address }: RouteInput<typeof routes.deleteMcpConnection>) {
    return this.service.delete(address);
  }
}

/** For the browser of a person who connects a server, and for authorization servers. Anyone may call them with anything. */
@Controller()
export class McpConnectPagesController {
  constructor(
    private readonly service: McpConnectionService,
    private readonly oauth: OAuthRequests,
    private readonly authenticator: Authenticator,
  ) {}

  @Route(mcpConnectPages.showMcpConnect)
  async showMcpConnect({ query, request, response }: RouteInput<typeof mcpConnectPages.showMcpConnect>) {
    const link = await this.service.readLink(query.link, await this.readSession(request));
    return toPage(response, askPage(link, query.link));
  }

  /** Only the page itself leads on: another site would make the browser agree to what the person has not seen. */
  @Route(mcpConnectPages.continueMcpConnect)
  async continueMcpConnect({ query, request, response }: RouteInput<typeof mcpConnectPages.continueMcpConnect>) {
    const session = await this.readSession(request);
    if (!isSameOrigin(request.headers, { isRead: false }))
      throw new ApiError('forbidden', 'Open the page itself: another one may not continue in its place.');
    const { location, browser, validMs } = await this.service.goOn(query.link, session);
    const expiresAt = new Date(Date.now() + validMs);
    response.setHeader('Set-Cookie', connectCookie.write(request.headers, browser, expiresAt));
    response.location(location);
  }

  @Route(mcpConnectPages.finishMcpConnect)
  async finishMcpConnect({ query, request, response }: RouteInput<typeof mcpConnectPages.finishMcpConnect>) {
    this.authenticator.countHandshake(request);
    const finished = await this.service.finish(query, connectCookie.read(request.headers));
    response.setHeader('Set-Cookie', connectCookie.write(request.headers, ''));
    return toPage(response, finished.how === 'connected' ? donePage(finished.url) : writeFailure(finished.reason));
  }

  @Route(mcpConnectPages.getMcpClientMetadata)
  getMcpClientMetadata() {
    return this.oauth.clientDocument;
  }

  /** Of the browser, where it is signed in to the console. Each look counts for its address. */
  private async readSession(request: Request): Promise<string | undefined> {
    this.authenticator.countHandshake(request);
    return (await this.authenticator.callerOfRequest(request))?.sessionId;
  }
}

function toPage(response: Response, html: string): StreamableFile {
  response.setHeader('Content-Security-Policy', pagePolicy);
  response.setHeader('Referrer-Policy', 'same-origin'); // else browsers do not say which page a form is of
  return new StreamableFile(Buffer.from(html), { type: 'text/html; charset=utf-8' });
}
