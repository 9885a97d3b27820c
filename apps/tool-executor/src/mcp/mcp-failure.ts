import { SseError } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';
import { AnswerTooLong, OutboundRefusal, RequestNotSent, SealBroken } from '@rondo/platform';
import { ZodError } from 'zod';
import { readableLine } from './readable-text';

/**
 * How a call that was to be sent failed. `unreadable`: there is an answer that cannot be used. `unknown`: it was sent, and may
 * have taken effect.
 */
export type McpFailure = 'session_lost' | 'not_sent' | 'refused' | 'unreadable' | 'unknown';

const noSession = 404;

export function failureOf(error: unknown): McpFailure {
  if (error instanceof OutboundRefusal || error instanceof RequestNotSent) return 'not_sent';
  if (error instanceof AnswerTooLong || error instanceof ZodError) return 'unreadable';
  if (error instanceof StreamableHTTPError) {
    if (error.code === noSession) return 'session_lost';
    return error.code !== undefined && error.code >= 400 && error.code < 500 ? 'refused' : 'unknown';
  }
  if (error instanceof McpError) return isOfProtocol(error) ? 'unknown' : 'refused';
  return 'unknown';
}

/** The client's own errors about an answer that does not come. */
const isOfProtocol = ({ code }: McpError): boolean =>
  code === (ErrorCode.RequestTimeout as number) || code === (ErrorCode.ConnectionClosed as number);

const longestReason = 300;

/** For the model and for people: one readable line. */
export function reasonOf(error: unknown): string {
  if (error instanceof ZodError) return 'its answer has not the form that the protocol demands';
  if (error instanceof SealBroken) return 'its headers cannot be opened: name the server again with its headers';
  if (error instanceof SseError || error instanceof StreamableHTTPError)
    return readableLine(error.message, longestReason);
  return readableLine(error instanceof Error ? error.message : String(error), longestReason);
}
