import { SseError } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';
import { AnswerTooLong, OutboundRefusal, RequestNotSent, SealBroken, toMessage } from '@rondo/platform';
import { ZodError } from 'zod';
import { AnswerUnreadable } from './mcp-result';
import { readableLine } from './readable-text';

/**
 * How a call that was to be sent failed. `unreadable`: there is an answer that cannot be used. `unknown`: it was sent, and may
 * have taken effect.
 */
export type McpFailure = 'session_lost' | 'not_sent' | 'refused' | 'unreadable' | 'unknown';

/** What the protocol demands where a session is not known, and what many servers answer instead. */
const isAboutSession = ({ code, message }: StreamableHTTPError): boolean =>
  code === 404 || (code === 400 && /session/i.test(message));

export function failureOf(error: unknown): McpFailure {
  if (error instanceof OutboundRefusal || error instanceof RequestNotSent) return 'not_sent';
  if (error instanceof AnswerTooLong || error instanceof AnswerUnreadable || error instanceof ZodError)
    return 'unreadable';
  if (error instanceof StreamableHTTPError) {
    if (isAboutSession(error)) return 'session_lost';
    return error.code !== undefined && error.code >= 400 && error.code < 500 ? 'refused' : 'unknown';
  }
  if (error instanceof McpError) return isOfProtocol(error) ? 'unknown' : 'refused';
  return 'unknown';
}

/** The client's own errors about an answer that does not come. */
const isOfProtocol = ({ code, message }: McpError): boolean =>
  code === (ErrorCode.RequestTimeout as number) ||
  (code === (ErrorCode.ConnectionClosed as number) && message.endsWith('Connection closed')); // servers use its number, too

const longestReason = 300;

/** For the model and for people: one readable line. */
export function reasonOf(error: unknown): string {
  if (error instanceof ZodError) return 'its answer has not the form that the protocol demands';
  if (error instanceof SealBroken) return 'its headers cannot be opened: name the server again with its headers';
  if (error instanceof SseError || error instanceof StreamableHTTPError)
    return readableLine(error.message, longestReason);
  return readableLine(toMessage(error), longestReason);
}
