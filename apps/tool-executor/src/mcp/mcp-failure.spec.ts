import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError, UnauthorizedError } from '@modelcontextprotocol/client';
import { AnswerTooLong, OutboundRefusal, RequestNotSent } from '@rondo/platform';
import { z } from 'zod';
import { ConnectionMissing } from '../secrets/secret-source';
import { InputRefused } from './asked-input';
import { toFailure, toReason } from './mcp-failure';
import { AnswerUnreadable } from './mcp-result';

const http = (status: number, message: string) =>
  new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, message, { status });
const unreadable = z.string().safeParse(1).error;

describe('the failure of a call', () => {
  it.each([
    ['refused', 'an error of the protocol', new ProtocolError(-32_602, 'wrong arguments')],
    ['refused', 'a wrong token', new UnauthorizedError('no token')],
    ['refused', 'a 403', http(403, 'forbidden')],
    ['refused', 'a 400', http(400, 'no such tool')],
    ['session_lost', 'a 404', http(404, 'not found')],
    ['session_lost', 'a 400 about the session', http(400, 'Session expired')],
    ['unknown', 'a 502', http(502, 'bad gateway')],
    ['unknown', 'an answer that did not come in time', new SdkError(SdkErrorCode.RequestTimeout, 'no answer')],
    ['unknown', 'a lost connection', new Error('connection reset')],
    ['not_given', 'a question that is not passed on', new InputRefused('it asked for a password')],
    ['not_sent', 'an address that is refused', new OutboundRefusal('a private address')],
    ['not_sent', 'a connection that was not made', new RequestNotSent('no connection')],
    ['unreadable', 'an answer that is too long', new AnswerTooLong('1 GB')],
    ['unreadable', 'an answer without content', new AnswerUnreadable('it has no content')],
    ['unreadable', 'an answer of another form', unreadable],
    ['unreadable', 'a result that is none', new SdkError(SdkErrorCode.InvalidResult, 'a number')],
  ])('is %s for %s', (failure, _, error) => {
    expect(toFailure(error)).toBe(failure);
  });

  it('is one readable line, whatever the server wrote', () => {
    expect(toReason(http(500, 'first\nsecond\u001b[31m'))).toBe('first second');
    expect(toReason(unreadable)).toBe('its answer has not the form that the protocol demands');
  });

  it('names the missing connection that a client has wrapped', () => {
    const missing = new ConnectionMissing(null);
    expect(toReason(new Error('fetch failed', { cause: missing }))).toBe(missing.message);
  });
});
