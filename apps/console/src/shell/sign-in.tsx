import { RondoError, type Session } from '@rondo/client';
import { type SubmitEvent, useEffect, useRef, useState } from 'react';
import { problemText } from '../ui/problem-text.ts';
import { Mark } from '../ui/mark.tsx';
import { signInWith } from '../session/session.ts';

interface SignInProps {
  readonly onSignedIn: (who: Session) => void;
}

/** Asks for an API key. */
export function SignIn({ onSignedIn }: SignInProps) {
  return (
    <main className="sign-in">
      <Mark />
      <h1>Sign in to Rondo</h1>
      <p>
        Open the link that <code>npm start</code> or <code>rondo console</code> prints, or paste an API key. The key is
        exchanged for a cookie and not kept.
      </p>
      <KeyForm onSignedIn={onSignedIn} />
    </main>
  );
}

/** Asks again over the page, which keeps what was typed into it. It cannot be closed otherwise: nothing below it would work. */
export function SignInAgain({ onSignedIn }: SignInProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (dialog.current?.open === false) dialog.current.showModal();
  }, []);
  return (
    <dialog
      ref={dialog}
      className="modal sign-in-again"
      aria-labelledby="sign-in-again"
      onCancel={(event) => event.preventDefault()}
    >
      <h2 id="sign-in-again">Sign in again</h2>
      <p>
        The session has ended: its time is over, or its key was revoked. The page stays as it is, with what you have
        typed.
      </p>
      <KeyForm onSignedIn={onSignedIn} />
    </dialog>
  );
}

function KeyForm({ onSignedIn }: SignInProps) {
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);

  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const key = new FormData(event.currentTarget).get('key');
    if (typeof key !== 'string' || key.trim() === '') return;
    setBusy(true);
    signInWith(key.trim())
      .then(onSignedIn, (error: unknown) => setProblem(refusalText(error)))
      .finally(() => setBusy(false));
  };

  return (
    <form onSubmit={submit}>
      <label htmlFor="key">API key</label>
      <input id="key" name="key" type="password" autoComplete="off" spellCheck={false} required autoFocus />
      {problem !== null && <p role="alert">{problem}</p>}
      <button className="primary" disabled={isBusy}>
        {isBusy ? 'Signing in …' : 'Sign in'}
      </button>
    </form>
  );
}

/** Here the key is the one that was just pasted. */
const refusalText = (error: unknown): string =>
  error instanceof RondoError && error.status === 401 ? 'The gateway does not accept this key.' : problemText(error);
