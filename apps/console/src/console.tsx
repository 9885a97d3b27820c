import type { Session as SignedIn } from '@rondo/client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { useMemo } from 'react';
import { router } from './routes.tsx';
import { clientOfCookie, currentSession } from './session/session.ts';
import { SignIn } from './session/sign-in.tsx';
import { SessionContext } from './session/use-session.ts';
import { Failed } from './ui/states.tsx';

const queryKey = ['session'];

/** The pages for those who have signed in, and the way in for the others. */
export function Console() {
  const queries = useQueryClient();
  const { data, error, refetch } = useQuery({ queryKey, queryFn: currentSession, staleTime: 60_000 });

  if (data) return <Pages who={data} />;
  if (data === null) return <SignIn onSignedIn={(who) => queries.setQueryData(queryKey, who)} />;
  return error ? <Failed error={error} retry={() => void refetch()} /> : null;
}

function Pages({ who }: { readonly who: SignedIn }) {
  const queries = useQueryClient();
  const session = useMemo(() => {
    const rondo = clientOfCookie();
    const signOut = async () => {
      await rondo.sessions.end();
      queries.clear();
      location.reload();
    };
    return { rondo, who, signOut };
  }, [who, queries]);
  return (
    <SessionContext value={session}>
      <RouterProvider router={router} />
    </SessionContext>
  );
}
