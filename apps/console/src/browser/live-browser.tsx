import { type BrowserAction, type BrowserScreen, RondoError } from '@rondo/client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { useRondo } from '../session/use-session.ts';
import { problemText } from '../ui/problem-text.ts';
import { Loading } from '../ui/states.tsx';
import { ActionQueue } from './action-queue.ts';
import { AddressBar } from './address-bar.tsx';
import { LivePicture } from './live-picture.tsx';
import { TextForPage } from './text-for-page.tsx';

const lookEveryMs = 1_000;

interface LiveBrowserProps {
  readonly threadId: string;
  readonly mayAct: boolean;
}

/** The browser of a thread's sandbox as it is now. It is looked at only while this page is. */
export function LiveBrowser({ threadId, mayAct }: LiveBrowserProps) {
  const rondo = useRondo();
  const { data: sandbox, error } = useQuery({
    queryKey: ['browser of', threadId],
    queryFn: ({ signal }) => rondo.sandboxes.find(threadId, { signal }),
    retry: false,
  });
  if (error) return <p role="alert">{problemText(error)}</p>;
  return sandbox ? <Screen sandboxId={sandbox.id} mayAct={mayAct} /> : <Loading what="the browser" />;
}

function Screen({ sandboxId, mayAct }: { readonly sandboxId: string; readonly mayAct: boolean }) {
  const { screen, problem, act } = useBrowser(sandboxId);
  if (!screen) return problem === null ? <Loading what="the browser" /> : <p role="alert">{problem}</p>;
  return (
    <div className="live-browser">
      <AddressBar screen={screen} act={mayAct ? act : undefined} />
      <LivePicture screen={screen} act={mayAct ? act : undefined} />
      {!mayAct && <p className="hint">You can watch. A person may act while no run is at work.</p>}
      {screen.notes.map((note, index) => (
        <p key={index} className="hint">
          {note}
        </p>
      ))}
      <p role="status">{problem ?? screen.problem}</p>
      {mayAct && <TextForPage act={act} />}
    </div>
  );
}

/** What it shows, and what does something in it. */
function useBrowser(sandboxId: string) {
  const rondo = useRondo();
  const queries = useQueryClient();
  const [problem, setProblem] = useState<string | null>(null);
  const queryKey = useMemo(() => ['browser', sandboxId], [sandboxId]);
  const { data: screen, error } = useQuery({
    queryKey,
    queryFn: ({ signal }) => rondo.sandboxes.browser(sandboxId, { signal }),
    refetchInterval: lookEveryMs,
    ...{ retry: false, gcTime: 0 },
  });
  const queue = useMemo(
    () =>
      new ActionQueue({
        send: (action) => rondo.sandboxes.operateBrowser(sandboxId, action),
        shown: (after: BrowserScreen) => {
          setProblem(null);
          // A look that began before the action must not be shown after it.
          void queries.cancelQueries({ queryKey }).then(() => queries.setQueryData(queryKey, after));
        },
        failed: (refusal) => setProblem(problemText(refusal)),
      }),
    [rondo, queries, queryKey, sandboxId],
  );
  const act = (action: BrowserAction) => queue.add(action);
  const isGone = error instanceof RondoError && error.code === 'browser_not_running';
  return { screen: isGone ? undefined : screen, problem: error ? problemText(error) : problem, act };
}
