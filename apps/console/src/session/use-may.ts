import { useSession } from './use-session.ts';

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
