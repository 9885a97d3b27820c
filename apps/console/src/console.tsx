import { useQueryClient } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { router } from './routes.tsx';
import { clientOf, forgetKey, storedKey } from './session/session.ts';
import { SignIn } from './session/sign-in.tsx';
import { SessionContext } from './session/use-session.ts';

/** The pages for those who have signed in, and the way in for the others. */
export function Console() {
  const queries = useQueryClient();
  const [key, setKey] = useState(storedKey);
  const session = useMemo(() => {
    if (key === null) return null;
    const signOut = () => {
      forgetKey();
      queries.clear();
      setKey(null);
    };
    return { rondo: clientOf(key), signOut };
  }, [key, queries]);

  if (!session) return <SignIn onSignedIn={() => setKey(storedKey())} />;
  return (
    <SessionContext value={session}>
      <RouterProvider router={router} />
    </SessionContext>
  );
}
