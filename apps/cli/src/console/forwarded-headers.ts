import type { IncomingHttpHeaders } from 'node:http';

/** They concern one connection and are not passed on (RFC 9110). */
const hopByHop = ['connection', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'te', 'trailer', 'upgrade'];

/** What a browser says of its own and of this server's origin; the gateway is on another one. */
const ofThisOrigin = /^(host|cookie|authorization|origin|referer|forwarded|x-forwarded-.*|sec-fetch-.*)$/;

/** What the gateway says about its own origin, and its invitation to type a password. */
const ofItsOrigin = /^(set-cookie|strict-transport-security|alt-svc|www-authenticate|access-control-.*)$/;

const without = (headers: IncomingHttpHeaders, unwanted: RegExp): IncomingHttpHeaders =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !hopByHop.includes(name) && !unwanted.test(name)));

/** The headers of a browser's request, for the gateway. */
export const requestHeaders = (headers: IncomingHttpHeaders, key: string | undefined): IncomingHttpHeaders => ({
  ...without(headers, ofThisOrigin),
  ...(key !== undefined && { authorization: `Bearer ${key}` }),
});

/** The headers of the gateway's answer, for the browser. */
export const answerHeaders = (headers: IncomingHttpHeaders): IncomingHttpHeaders => without(headers, ofItsOrigin);
