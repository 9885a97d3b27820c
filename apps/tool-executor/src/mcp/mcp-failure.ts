import {
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  SseError,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { AnswerTooLong, OutboundRefusal, RequestNotSent, SealBroken, toMessage } from '@rondo/platform';
import { ZodError } from 'zod';
import { ConnectionMissing } from '../secrets/secret-source';
import { InputRefused } from './asked-input';
import { AnswerUnreadable } from './mcp-result';
import { readableLine } from './readable-text';

/**
 * How a call that was to be sent failed. `not_given`: its server asked for what people are not asked for. `unreadable`: there is an answer that cannot be used. `unknown`: it was sent, and may
 * have taken effect.
 */
export type McpFailure = 'session_lost' | 'not_sent' | 'refused' | 'not_given' | 'unreadable' | 'unknown';

/** What the protocol demands where a session is not known, and what many servers answer instead. */
const isAboutSession = ({ status, message }: SdkHttpError): boolean =>
  status === 404 || (status === 400 && /session/i.test(message));

export function toFailure(error: unknown): McpFailure {
  if (error instanceof InputRefused) return 'not_given';
  if (error instanceof OutboundRefusal || error instanceof RequestNotSent) return 'not_sent';
  if (error instanceof AnswerTooLong || error instanceof AnswerUnreadable || error instanceof ZodError)
    return 'unreadable';
  if (error instanceof SdkHttpError) {
    if (isAboutSession(error)) return 'session_lost';
    return error.status >= 400 && error.status < 500 ? 'refused' : 'unknown';
  }
  if (error instanceof UnauthorizedError || error instanceof ProtocolError) return 'refused';
  return error instanceof SdkError && unreadable.includes(error.code) ? 'unreadable' : 'unknown';
}

/** An answer came that is none. */
const unreadable: readonly SdkErrorCode[] = [SdkErrorCode.InvalidResult, SdkErrorCode.UnsupportedResultType];

/** A client wraps what went wrong before a request was sent. */
export function findConnectionMissing(error: unknown): ConnectionMissing | undefined {
  if (error instanceof ConnectionMissing) return error;
  return error instanceof Error && error.cause !== undefined ? findConnectionMissing(error.cause) : undefined;
}

const longestReason = 300;

/** For the model and for people: one readable line. */
export function toReason(error: unknown): string {
  const missing = findConnectionMissing(error);
  if (missing) return missing.message;
  if (error instanceof ZodError) return 'its answer has not the form that the protocol demands';
  if (error instanceof SealBroken) return 'its headers cannot be opened: name the server again with its headers';
  if (error instanceof SseError || error instanceof SdkHttpError) return readableLine(error.message, longestReason);
  return readableLine(toMessage(error), longestReason);
}
