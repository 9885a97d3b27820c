import { type BrowserAction, type BrowserScreen, RondoError } from '@rondo/client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo, useState, type SubmitEvent, useId } from 'react';
import { useRondo } from '../session/use-session.ts';
import { problemText } from '../ui/problem-text.ts';
import { Loading } from '../ui/states.tsx';
import { ActionQueue } from './action-queue.ts';
import { LivePicture } from './live-picture.tsx';
import { TextField } from '../ui/fields.tsx';

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
  if (error && !sandbox) return <p role="alert">{problemText(error)}</p>;
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

interface AddressBarProps {
  readonly screen: BrowserScreen;
  /** Absent for those who watch. */
  readonly act: ((action: BrowserAction) => void) | undefined;
}

/** Where the browser is, and the ways to somewhere else: an address, back, another tab. */
function AddressBar({ screen, act }: AddressBarProps) {
  const [written, write] = useState<string | null>(null);
  const field = useId();
  const tabs = useId();
  const open = (event: SubmitEvent) => {
    event.preventDefault();
    if (written !== null && written.trim() !== '') act?.({ type: 'navigate', url: written.trim() });
    write(null);
  };
  return (
    <form className="address-bar" onSubmit={open}>
      <button type="button" disabled={!act} onClick={() => act?.({ type: 'back' })}>
        Back
      </button>
      <label htmlFor={field} className="unseen">
        Address
      </label>
      <input
        dir="auto"
        id={field}
        value={written ?? screen.url}
        readOnly={!act}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => write(event.currentTarget.value)}
      />
      {act && <button disabled={written === null}>Open</button>}
      {act && screen.tabs.length > 1 && (
        <>
          <label htmlFor={tabs} className="unseen">
            Tab
          </label>
          <select
            id={tabs}
            value={screen.tabs.find((tab) => tab.is_active)?.page_id}
            onChange={(event) => act({ type: 'tab', page_id: Number(event.currentTarget.value) })}
          >
            {screen.tabs.map(({ page_id: id, title }) => (
              <option key={id} value={id}>
                {id}: {title === '' ? 'no title' : title}
              </option>
            ))}
          </select>
        </>
      )}
    </form>
  );
}

const keys = ['Tab', 'Enter', 'Backspace', 'Escape', 'ArrowUp', 'ArrowDown'] as const;

/** For those who cannot type on the picture: on a phone, or with a screen reader. */
function TextForPage({ act }: { readonly act: (action: BrowserAction) => void }) {
  const [text, setText] = useState('');
  const send = (event: SubmitEvent) => {
    event.preventDefault();
    if (text === '') return;
    act({ type: 'text', text });
    setText('');
  };
  return (
    <form className="text-for-page" onSubmit={send}>
      <TextField
        label="Type into the field that has the focus. It is not stored"
        value={text}
        maxLength={4_000}
        spellCheck={false}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <div className="actions" role="group" aria-label="Keys">
        <button disabled={text === ''}>Type</button>
        {keys.map((key) => (
          <button key={key} type="button" onClick={() => act({ type: 'keys', keys: key })}>
            {key.replace('Arrow', '')}
          </button>
        ))}
      </div>
    </form>
  );
}
