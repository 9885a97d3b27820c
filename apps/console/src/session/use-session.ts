import type { Rondo } from '@rondo/client';
import { createContext, useContext } from 'react';
import type { Session } from './session.ts';

export const SessionContext = createContext<Session | null>(null);

/** Inside of the shell there always is one. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error('There is no session here.');
  return session;
}

export const useRondo = (): Rondo => useSession().rondo;
