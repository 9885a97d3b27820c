import type { IncomingHttpHeaders } from 'node:http';
import { type FramePlace, readFrameId } from './ii-agent.translate';

const cookieName = 'rondo_ii_shown';
const maxAgeS = 3_600;

/**
 * The header `Set-Cookie` with which a page says, when it opens the socket of a session, which events of it the page was given
 * before. II-Agent's own page reads them, opens the socket when it has shown them, and names no event there.
 */
export const writeShown = (session: string, id: string): string =>
  `${cookieName}=${encodeURIComponent(session)}:${id}; Path=/; Max-Age=${maxAgeS}; HttpOnly; SameSite=Strict`;

/** Undefined for a page that was given events of another session, or none. */
export function readShown({ cookie = '' }: IncomingHttpHeaders, session: string): FramePlace | undefined {
  const start = `${cookieName}=${encodeURIComponent(session)}:`;
  const found = cookie.split(';').find((pair) => pair.trim().startsWith(start));
  return found === undefined ? undefined : readFrameId(found.trim().slice(start.length));
}
