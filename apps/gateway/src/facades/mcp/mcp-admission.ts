import type { Authenticator } from '../../auth/authenticator';
import { ApiError } from '../../problems/api-error';
import type { McpExchange } from './mcp-server';

/** Lets requests in. A page that a browser has opened elsewhere must not reach a server by its user's own network. */
export class McpAdmission {
  constructor(
    /** The origins of pages, beside the gateway's own. */
    private readonly allowed: readonly string[],
    private readonly authenticator: Pick<Authenticator, 'readAddress'>,
  ) {}

  /** Throws `forbidden` for a request of a page of another origin. */
  admit({ caller, request, response }: Pick<McpExchange, 'caller' | 'request' | 'response'>): McpExchange {
    const { origin, host } = request.headers;
    const isForeign = origin !== undefined && !this.allowed.includes(origin) && !isOfHost(origin, host);
    if (isForeign) throw new ApiError('forbidden', `Pages of ${origin} may not call this server: see ALLOWED_ORIGINS.`);
    return { caller, request, response, address: this.authenticator.readAddress(request) };
  }
}

const isOfHost = (origin: string, host: string | undefined): boolean =>
  URL.canParse(origin) && new URL(origin).host === host;
