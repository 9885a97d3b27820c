import type { Session as SignedIn } from '@rondo/client';
import { onlineManager, useQuery, useQueryClient } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { type ComponentProps, Suspense, lazy, useEffect, useMemo, useState } from 'react';
import { readSharedThread } from './chat/shared-path.ts';
import { gatewayUrl } from './gateway-url.ts';
import { router } from './routes.tsx';
import { clientOfCookie, currentSession } from './session/session.ts';
import { SignIn, SignInAgain } from './shell/sign-in.tsx';
import { SessionContext } from './session/use-session.ts';
import { Failure } from './ui/states.tsx';

const queryKey = ['session'];

const SharedThread = lazy(() => import('./chat/shared-thread.tsx'));

/** A shared thread for everyone, and everything else for those who have signed in. */
export function Console() {
  const shared = readSharedThread(location.pathname);
  if (shared === undefined) return <SignedInConsole />;
  return (
    <Suspense>
      <SharedThread threadId={shared} />
    </Suspense>
  );
}

/** The pages for those who have signed in, and the way in for the others. */
function SignedInConsole() {
  const queries = useQueryClient();
  const { data, error, refetch } = useQuery({
    ...{ queryKey, queryFn: currentSession, staleTime: 60_000 },
    refetchOnWindowFocus: 'always',
  });
  const [last, setLast] = useState<SignedIn | null>(null);
  useOtherTabs(data?.account_id, refetch);
  const isOther = Boolean(data && last && data.account_id !== last.account_id); // another tab may have signed in, too
  useEffect(() => {
    if (isOther) location.reload();
  }, [isOther]);
  if (isOther) return null; // nothing of the former account may be shown
  if (data && data !== last) setLast(data);
  const who = data ?? last;
  const onSignedIn = (signedIn: SignedIn) => queries.setQueryData(queryKey, signedIn);

  if (who) {
    return (
      <>
        <Pages who={who} />
        {data === null && <EndedSession who={who} onSignedIn={onSignedIn} />}
      </>
    );
  }
  if (data === null) return <SignIn onSignedIn={onSignedIn} />;
  return error ? <Failure error={error} retry={() => void refetch()} /> : null;
}

/** All tabs have the cookie of the last sign-in: each says whose it is, so that none goes on with that of another account. */
function useOtherTabs(accountId: string | undefined, readAgain: () => Promise<unknown>): void {
  useEffect(() => {
    if (accountId === undefined) return;
    const tabs = new BroadcastChannel(`${gatewayUrl()} account`);
    tabs.onmessage = ({ data }: MessageEvent<string>) => void (data !== accountId && readAgain());
    tabs.postMessage(accountId);
    return () => tabs.close();
  }, [accountId, readAgain]);
}

/** Nothing is read again until there is a session: each request would be refused. */
function EndedSession(props: ComponentProps<typeof SignInAgain>) {
  useEffect(() => {
    onlineManager.setOnline(false);
    return () => onlineManager.setOnline(true);
  }, []);
  return <SignInAgain {...props} />;
}

function Pages({ who }: { readonly who: SignedIn }) {
  const queries = useQueryClient();
  const session = useMemo(() => {
    const rondo = clientOfCookie(() => queries.setQueryData(queryKey, null));
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
