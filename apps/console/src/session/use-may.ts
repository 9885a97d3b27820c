import { useSession } from './use-session.ts';

type Scope = 'read' | 'write' | 'admin';

const including: Record<Scope, readonly string[]> = {
  read: ['read', 'write', 'admin'],
  write: ['write', 'admin'],
  admin: ['admin'],
};

/** Whether the session has this scope. A page offers nothing that would be refused. */
export function useMay(scope: Scope): boolean {
  const { who } = useSession();
  return including[scope].some((name) => who.scopes.includes(name));
}
