import { Rondo, RondoError, type Session as SignedIn } from '@rondo/client';
import { fetchAndWatch } from './connection.ts';
import { gatewayUrl } from '../gateway-url.ts';

/** Who uses the console. The browser keeps a cookie that no script can read. */
export interface Session {
  readonly rondo: Rondo;
  readonly who: SignedIn;
  readonly signOut: () => Promise<void>;
}

/** `onRefused` is called when the gateway does not accept the cookie any more. */
export function clientOfCookie(onRefused?: () => void): Rondo {
  const watched: typeof fetch = async (...request) => {
    const response = await fetchAndWatch(...request);
    if (response.status === 401) onRefused?.();
    return response;
  };
  return new Rondo({ baseUrl: gatewayUrl(), fetch: watched });
}

/** Null if this browser has to sign in. */
export async function currentSession(): Promise<SignedIn | null> {
  try {
    return await clientOfCookie().sessions.current();
  } catch (error) {
    if (error instanceof RondoError && error.status === 401) return null;
    throw error;
  }
}

/** As whom the key signs in. Nothing is exchanged. */
export const findCaller = (key: string): Promise<SignedIn> =>
  new Rondo({ baseUrl: gatewayUrl(), apiKey: key }).sessions.current();

/** Exchanges the key for a session. The key is not kept. Rejects if the gateway does not accept it. */
export const signInWith = (key: string): Promise<SignedIn> =>
  new Rondo({ baseUrl: gatewayUrl(), apiKey: key }).sessions.begin();
