import {
  ProtocolErrorCode,
  SUPPORTED_PROTOCOL_VERSIONS,
  classifyInboundRequest,
  isJSONRPCNotification,
  isJSONRPCRequest,
} from '@modelcontextprotocol/server';
import { Controller } from '@nestjs/common';
import { mcpCoverage, mcp as routes } from '@rondo/contract/api';
import { newUlid } from '@rondo/platform';
import { requireScope } from '../../auth/api-request';
import { Route, type RouteInput } from '../../http/route';
import { ApiError } from '../../problems/api-error';
import { McpAnswers } from './mcp-answers';
import { toJsonRpcError } from './mcp-errors';
import { type McpExchange, McpMessages } from './mcp-server';
import type { Authenticator } from '../../auth/authenticator';

const refused: Readonly<Record<string, { readonly why: string }>> =
  mcpCoverage.requests['`method` of a message'].refused;
const readingTools: ReadonlySet<unknown> = new Set(['get_run']);

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

/** The server side of the Streamable HTTP transport, for both generations of the protocol. */
@Controller()
export class McpController {
  constructor(
    private readonly messages: McpMessages,
    private readonly answers: McpAnswers,
    private readonly admission: McpAdmission,
  ) {}

  @Route(routes.sendMcpMessage)
  async sendMcpMessage({ body, ...input }: RouteInput<typeof routes.sendMcpMessage>): Promise<void> {
    const exchange = this.admission.admit(input);
    if (Array.isArray(body))
      throw new ApiError('malformed_request', 'Send one message at a time: batches are not served.');
    if (isWriting(body)) requireScope(exchange.caller, 'write');
    const isOlder = classify(body, exchange) === 'legacy';
    if (refuseByName(body, exchange, { isOlder })) return;
    if (isOlder && (await this.answerOlder(body, exchange))) return;
    if (isJSONRPCRequest(body) && body.method === 'initialize')
      exchange.response.setHeader('Mcp-Session-Id', `mcp_${newUlid()}`); // the client's name: nothing is kept of it
    await this.messages.answer(body, exchange);
  }

  @Route(routes.resumeMcpAnswer)
  async resumeMcpAnswer(input: RouteInput<typeof routes.resumeMcpAnswer>): Promise<void> {
    const exchange = this.admission.admit(input);
    const lastEventId = input.request.get('last-event-id');
    if (lastEventId === undefined)
      throw new ApiError('method_not_allowed', 'There is no stream but that of an answer.', { Allow: 'POST' });
    await this.answers.resume(lastEventId, exchange);
  }

  /** False: it needs no memory. */
  private async answerOlder(message: unknown, exchange: McpExchange): Promise<boolean> {
    if (isJSONRPCNotification(message) && message.method === 'notifications/cancelled') {
      await this.answers.cancel(message.params?.['requestId'], exchange);
      exchange.response.status(202).end();
      return true;
    }
    if (!isJSONRPCRequest(message) || !knowsVersion(exchange)) return false;
    const { method } = message;
    if (method === 'tools/call') await this.answers.call(message, exchange);
    else if (method === 'tasks/get' || method === 'tasks/result' || method === 'tasks/cancel')
      await this.answers.answerTask(message, exchange);
    else return false;
    return true;
  }
}

const classify = (body: unknown, { request }: McpExchange) => {
  const [protocolVersionHeader, mcpMethodHeader] = [request.get('mcp-protocol-version'), request.get('mcp-method')];
  return classifyInboundRequest({
    httpMethod: 'POST',
    body,
    ...(protocolVersionHeader !== undefined && { protocolVersionHeader }),
    ...(mcpMethodHeader !== undefined && { mcpMethodHeader }),
  }).kind;
};

/** An unknown one is refused with the list of those that there are. */
const knowsVersion = ({ request }: McpExchange): boolean =>
  SUPPORTED_PROTOCOL_VERSIONS.includes(request.get('mcp-protocol-version') ?? '2025-03-26');

/** Whether a message may change something. */
function isWriting(message: unknown): boolean {
  if (isJSONRPCNotification(message)) return message.method === 'notifications/cancelled';
  if (!isJSONRPCRequest(message)) return false;
  if (message.method !== 'tools/call') return message.method === 'tasks/cancel';
  const isRepeated = message.params?.['requestState'] !== undefined; // then it may answer what a run asks, whatever it names
  return isRepeated || !readingTools.has(message.params?.['name']);
}

/** A method of the protocol that is not served: 404 since 2026-07-28, and 200 before. */
function refuseByName(
  message: unknown,
  { response }: McpExchange,
  { isOlder }: { readonly isOlder: boolean },
): boolean {
  if (!isJSONRPCRequest(message) || !Object.hasOwn(refused, message.method)) return false;
  const words = `${message.method} is not served here: ${refused[message.method]?.why ?? ''}.`;
  response.status(isOlder ? 200 : 404).json(toJsonRpcError(message.id, ProtocolErrorCode.MethodNotFound, words));
  return true;
}
