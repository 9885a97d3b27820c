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

export type Scope = 'read' | 'write' | 'admin' | 'operator';

const including: Record<Exclude<Scope, 'operator'>, readonly string[]> = {
  read: ['read', 'write', 'admin'],
  write: ['write', 'admin'],
  admin: ['admin'],
};

/** Whether the session has this scope; `operator`: whether it may see the whole deployment. A page offers nothing that would be refused. */
export function useMay(scope: Scope): boolean {
  const { who } = useSession();
  if (scope === 'operator') return who.operates_deployment === true;
  return including[scope].some((name) => who.scopes.includes(name));
}
